import type { Rights } from '../../shared/access/rights.ts';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { defined } from '../../shared/defined.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { remembered } from '../../shared/remembered.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { SearchAdditions } from '../../shared/synonyms/synonym-state.ts';
import { type CacheToken, createCacheToken } from '../access/cache-token.ts';
import { bodyKey, cursorKey, syncKey, tagKey, ticketKey } from '../access/derived-keys.ts';
import { type ChangeFeedOptions, createChangeFeed } from '../changes/change-feed.ts';
import { createHistoryName } from '../changes/history-name.ts';
import { requestOrOperator } from '../command/current-author.ts';
import { nameShape } from '../delivery/generation.ts';
import type { TagPositions } from '../delivery/tag-positions.ts';
import type { Purged } from '../delivery/tagging.ts';
import { createDocumentHistory, type DocumentHistory } from '../history/document-history.ts';
import type { HistoryOptions } from '../history/question.ts';
import {
  type Forwarding,
  type OpenForwardingOptions,
  openForwarding,
} from '../http/forwarding/open-forwarding.ts';
import type { Freshness } from '../http/requests/await-position.ts';
import { type ApiWrites, createApis, type ServedApi } from '../http/served-api.ts';
import type { SearchLog } from '../searches/open-search-log.ts';
import { createRuleComparison } from '../synonyms/compare-rules.ts';
import type { KnownSynonyms } from '../synonyms/open-synonyms.ts';
import { createPreview } from '../synonyms/preview-rules.ts';
import { createSynonymCommands } from '../synonyms/synonym-commands.ts';
import type { ServedSynonyms } from '../synonyms/synonym-resources.ts';
import type { Callers, Identity } from './identity.ts';
import type { ServingOptions } from './process-options.ts';

/** The content from which a process answers reads. */
export type ServedContent = {
  readonly registry: SchemaRegistry;
  readonly index: ReadIndex;
  readonly freshness: Freshness;
  /** Rows, links and the journal. Absent: the leader reads the change feed and the history for this process. */
  readonly graph?: ChangeFeedOptions['graph'] & HistoryOptions['graph'];
  /** Changes of the content; absent: this process does not know them. */
  readonly positions?: TagPositions | undefined;
};

/** The write side of a process, or the way to the write side of the leader. */
export type Writing = Pick<OpenForwardingOptions, 'fleet' | 'refuseWrites' | 'isConverting'> & {
  readonly writes: ApiWrites;
};

/** The opened parts of a process, from which its API is made. */
export type ProcessParts = {
  readonly options: ServingOptions;
  readonly identity: Identity;
  readonly callers: Callers;
  readonly synonyms: KnownSynonyms;
  /** Counts of searches. Absent: none are counted. */
  readonly searches?: SearchLog | undefined;
  readonly assets: AssetStore;
  readonly content: ServedContent;
  readonly writing: Writing;
  /** Absent: this process purges no caches. */
  readonly purged?: Purged | undefined;
};

export type ComposedApi = ServedApi & {
  readonly forwarding: Forwarding;
  /** Absent: answers to tokens are private. */
  readonly cacheToken: CacheToken | undefined;
  /** Names everything except content and limits of pages that shapes shared answers. It is equal in all processes of a log. */
  readonly shape: () => string;
  /** Key that signs cursors. */
  readonly cursorKey: Uint8Array;
};

/** Makes the API of a process of any role. */
export function composeProcess(parts: ProcessParts): ComposedApi {
  const { options, identity, callers, synonyms, searches, content, writing } = parts;
  const { key, space, membership } = identity;
  const { access, tokens, roles, login } = callers;
  const { registry, index, freshness } = content;
  const { operating, strapi, caches } = options;
  const { defaultLocale } = options.content;
  const { metrics } = operating;
  const cacheToken = caches.cacheToken && createCacheToken({ ...caches.cacheToken, access, registry });
  const forwarding = openForwarding({ ...writing, membership, bodyKey: bodyKey(key), metrics });
  const apiFor = createApis({
    registry,
    index,
    defaultLocale,
    usersEnvelope: strapi.usersEnvelope,
    rules: { ...strapi.rules, cursorKey: cursorKey(key) },
    observe: operating.observeQuery,
    delivery: { version: operating.version, ...cachingOf(parts), metrics, cacheToken },
    writes: writing.writes,
    additions: synonyms.current,
    searches,
  });
  return {
    registry,
    access,
    search: { synonyms: servedSynonyms(parts), counts: searches },
    tokens,
    roles,
    apiFor,
    freshness,
    forwarding,
    cacheToken,
    shape: shapeInAll(parts, cacheToken),
    assets: { store: parts.assets, index, space },
    ...defined({ login: login?.api, changes: changeFeedOf(parts), history: historyOf(parts) }),
    ticketKey: ticketKey(key),
    cursorKey: cursorKey(key),
  };
}

function servedSynonyms({ options, identity, synonyms, content }: ProcessParts): ServedSynonyms {
  const { log, space } = identity;
  const { registry, index } = content;
  const { defaultLocale } = options.content;
  const { known } = synonyms;
  const commands = createSynonymCommands({ log, space, now: Date.now, known, author: requestOrOperator });
  const { rules } = options.strapi;
  const trial = { registry, index, defaultLocale, rules, additions: synonyms.current };
  const [preview, compare] = [createPreview(trial), createRuleComparison(trial)];
  return { commands, applied: synonyms.applied, preview, compare };
}

function cachingOf({ options, identity, content, purged }: ProcessParts) {
  const { tagging, answerCacheBytes = 0 } = options.caches;
  const key = tagKey(identity.key);
  const position = () => content.index.position();
  return {
    positions: content.positions,
    cacheBytes: answerCacheBytes,
    tagging: tagging && { ...tagging, key, position, purged },
  };
}

function changeFeedOf({ identity, content }: ProcessParts) {
  const { log, space } = identity;
  const { registry, index, freshness, graph } = content;
  if (graph === undefined) return undefined;
  const key = syncKey(identity.key);
  const history = createHistoryName(log, space, () => index.position());
  return createChangeFeed({ log, space, history, index, registry, key, graph, ...freshness });
}

function historyOf({ options, identity, content }: ProcessParts): DocumentHistory | undefined {
  const { log, space } = identity;
  const { registry, graph } = content;
  if (graph === undefined) return undefined;
  const events = createEffectiveEvents(log, space);
  const { defaultLocale } = options.content;
  return createDocumentHistory({
    events,
    space,
    registry,
    graph,
    defaultLocale,
    rules: options.strapi.rules,
  });
}

const nameTypes = remembered((registry: SchemaRegistry) => nameShape(registry));
const nameAdditions = remembered((additions: SearchAdditions) => nameShape(additions));

function shapeInAll(
  { options, callers, synonyms, content }: ProcessParts,
  cacheToken: CacheToken | undefined,
) {
  const { defaultLocale } = options.content;
  const { usersEnvelope } = options.strapi;
  const fixed = { version: options.operating.version, defaultLocale, usersEnvelope };
  return () => {
    const rights = sharedRights({ access: callers.access, cacheToken });
    return nameShape({
      ...fixed,
      types: nameTypes(content.registry),
      synonyms: nameAdditions(synonyms.current()),
      rights,
    });
  };
}

/** Returns the rights of callers whose answers caches may share. */
function sharedRights({ access, cacheToken }: Pick<ComposedApi, 'access' | 'cacheToken'>): readonly Rights[] {
  return [access.authenticate(undefined), cacheToken?.rights()].filter((rights) => rights !== undefined);
}

/** Returns a name of everything except content that shapes shared answers of this process. */
export function shapeOfShared(api: ComposedApi): string {
  return sharedRights(api)
    .map((rights) => api.apiFor(rights).delivery.generation)
    .join(' ');
}
