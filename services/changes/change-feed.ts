import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { defined } from '../../shared/defined.ts';
import type { RelatedOptions } from '../../shared/document/related-documents.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type FeedItem, isSelected, itemOf, joinItems } from './feed-item.ts';
import type { HistoryName } from './history-name.ts';
import { listDocuments } from './list-documents.ts';
import { createLogReader } from './read-changes.ts';
import { relatedItems } from './related-items.ts';
import { type FeedCaller, type FeedSelection, parseChangesRequest } from './selection.ts';
import {
  readSyncToken,
  type SyncPlace,
  type SyncScope,
  syncTokenGone,
  writeSyncToken,
} from './sync-token.ts';
import { visibleChange } from './visible-change.ts';

export type ChangeFeedOptions = {
  readonly log: EventStore;
  readonly space: string;
  readonly registry: SchemaRegistry;
  readonly history: HistoryName;
  readonly index: ReadIndex;
  /** Signs sync tokens. */
  readonly key: Uint8Array;
  /** Returns a position that the log has reached: at least `wanted`, if the log has reached `wanted`. */
  readonly head: (wanted: bigint) => Promise<bigint>;
  /** Waits until reads show a position; false after a time limit. */
  readonly shows: (position: bigint) => Promise<boolean>;
  readonly graph: RelatedOptions['graph'] & Pick<ContentGraph, 'changesBetween' | 'hasJournal'>;
};

/** One page of the feed. */
export type FeedPage = {
  readonly items: readonly FeedItem[];
  readonly next: string;
  /** False if there are no more changes for now. */
  readonly hasMore: boolean;
};

/** A reader of the feed: a caller with a selection. */
export type FeedReader = {
  /** True if the pages may show drafts. */
  readonly hasDrafts: boolean;
  /** Names the caller's rights and the selection: readers with equal names get equal pages. */
  readonly name: string;
  /**
   * Reads the page after a token; undefined begins. It has no changes after `until`. Throws RequestError, see `readSyncToken`, and 503 if an
   * earlier projector made the graph.
   */
  page(since: string | undefined, until?: bigint): Promise<FeedPage>;
};

export type ChangeFeed = {
  /** Throws RequestError for a query string that is not valid. `since` is the token in it. */
  reader(caller: FeedCaller, queryString: string): { readonly reader: FeedReader; readonly since?: string };
};

/** Creates the feed. It reads and keeps nothing before the first request. */
export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { space, index, graph } = options;
  const events = createEffectiveEvents(options.log, space);
  const read = createLogReader({ events, space, changesBetween: graph.changesBetween });

  return {
    reader(caller, queryString) {
      const { selection, since } = parseChangesRequest(caller, queryString);
      const page: FeedReader['page'] = async (token, limit) => {
        if (!graph.hasJournal())
          throw new RequestError('starting', 'The journal is being made: try again soon');
        const scope = { key: options.key, history: options.history, selection: selection.name };
        const known = token === undefined ? undefined : await placeOf(options, scope, token);
        const shown = index.position();
        const until = limit !== undefined && limit < shown ? limit : shown;
        const place = known ?? { position: until, listing: { set: 0, after: null } };
        if (place.listing === undefined)
          return changesPage(caller, selection, scope, { after: place.position, until });
        const { items, next } = await listDocuments(index, selection, place);
        const hasMore = next.listing !== undefined || next.position < until;
        return { items, next: await writeSyncToken(scope, next), hasMore };
      };
      return {
        reader: { name: selection.name, hasDrafts: selection.statuses.has('draft'), page },
        ...defined({ since }),
      };
    },
  };

  async function changesPage(
    caller: FeedCaller,
    selection: FeedSelection,
    scope: SyncScope,
    range: { readonly after: bigint; readonly until: bigint },
  ): Promise<FeedPage> {
    const { types, visible, related, limit } = selection;
    const { registry } = options;
    const items: FeedItem[] = [];
    const result = await read({
      after: range.after,
      until: range.until,
      types: related ? visible : types,
      async isEnough(found) {
        const change = await visibleChange({ registry, events }, caller, selection, found);
        const rows = change.rows.filter((row) => isSelected(selection, change.type, row));
        items.push(...rows.map((row) => itemOf(change, row, row.names)));
        if (related) items.push(...relatedItems({ registry, graph }, selection, caller.registry, change));
        return items.length >= limit;
      },
    });
    if (result.redefined !== undefined)
      throw syncTokenGone(`the content type ${result.redefined} was changed`);
    const next = await writeSyncToken(scope, { position: result.reached });
    return { items: joinItems(items), next, hasMore: !result.isEnd };
  }
}

/** Returns the place of a token, after reads of this process show its position. */
async function placeOf(
  { index, head, shows }: ChangeFeedOptions,
  scope: SyncScope,
  token: string,
): Promise<SyncPlace> {
  const place = await readSyncToken(scope, token);
  if (place.position <= index.position()) return place;
  if (place.position > (await head(place.position)))
    throw syncTokenGone('the log does not reach its position');
  if (await shows(place.position)) return place;
  throw new RequestError('position-not-shown', `Position ${place.position} of the log is not applied yet`, {
    shown: String(index.position()),
  });
}
