import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import { entryOfSource } from '../../shared/read-index/entry-of-source.ts';
import type { ReadIndex, SearchRequest, World } from '../../shared/read-index/read-index.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { type FeedItem, joinItems } from './feed-item.ts';
import type { FeedSelection } from './selection.ts';
import type { ListingPlace, SyncPlace } from './sync-token.ts';

type RowSet = { readonly type: ContentType; readonly world: World };

/** Returns the row sets of a first sync, in the order in which they are listed. */
function rowSetsOf({ types, statuses }: FeedSelection): readonly RowSet[] {
  const inOrder = [...types.values()].sort((a, b) => (a.uid < b.uid ? -1 : 1));
  return inOrder.flatMap((type) => {
    const worlds: readonly World[] = type.draftAndPublish ? [...statuses].sort() : ['published'];
    return worlds.map((world) => ({ type, world }));
  });
}

/**
 * Lists a page of the existing documents, in the order of their ids. A row that changes during the first sync may be listed twice or not at
 * all. Its change comes after `position`, where the reader continues.
 */
export async function listDocuments(
  index: ReadIndex,
  selection: FeedSelection,
  { position, listing = FIRST }: SyncPlace,
): Promise<{ readonly items: readonly FeedItem[]; readonly next: SyncPlace }> {
  const sets = rowSetsOf(selection);
  const items: FeedItem[] = [];
  let place: ListingPlace = listing;
  for (;;) {
    const { set, after }: ListingPlace = place;
    const rows = sets[set];
    if (rows === undefined) return { items: joinItems(items), next: { position } };
    if (items.length >= selection.limit) break;
    const size = selection.limit - items.length;
    const { type, world } = rows;
    const query = inLocales(type, selection);
    const found = await index.search({ ...IN_ORDER, type: type.uid, world, query, size, cursor: { after } });
    items.push(...found.hits.sources.map((source) => itemOf(rows, source, position)));
    place = found.next == null ? { set: set + 1, after: null } : { set, after: found.next };
  }
  return { items: joinItems(items), next: { position, listing: place } };
}

const IN_ORDER = { sort: [], from: 0, withTotal: false } satisfies Partial<SearchRequest>;
const FIRST: ListingPlace = { set: 0, after: null };

function inLocales(type: ContentType, { locales }: FeedSelection): BoolQuery {
  if (!type.localized || locales === undefined) return MATCH_ALL;
  return { kind: 'terms', field: 'locale', values: [...locales] };
}

function itemOf({ type, world }: RowSet, source: Uint8Array, position: bigint): FeedItem {
  const { documentId, locale } = entryOfSource(source);
  const locales = type.localized && locale != null ? [locale] : [];
  return { type: type.uid, documentId, status: world, event: 'create', locales, position: String(position) };
}
