import type { Rights } from '../../shared/access/rights.ts';
import { defined } from '../../shared/defined.ts';
import { rememberLast } from '../../shared/remembered.ts';
import { addRules } from '../../shared/schema/add-rules.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { SearchAdditions } from '../../shared/synonyms/synonym-state.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { CacheToken } from '../access/cache-token.ts';
import type { RoleCommands } from '../access/role-commands.ts';
import type { TokenCommands } from '../access/token-commands.ts';
import type { FileLibrary } from '../assets/file-library.ts';
import type { ChangeFeed } from '../changes/change-feed.ts';
import { nameShape } from '../delivery/generation.ts';
import { type AnswerMemory, createAnswerMemory } from '../delivery/known-answers.ts';
import type { TagPositions } from '../delivery/tag-positions.ts';
import { createTagging, type TaggingOptions } from '../delivery/tagging.ts';
import type { ServedErasures } from '../erasure/erasure-resources.ts';
import type { FollowApi } from '../follow/follow-api.ts';
import type { DocumentHistory } from '../history/document-history.ts';
import { createInstantSearch } from '../instant-search/instant-search-api.ts';
import type { LoginApi } from '../login/login-api.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { ServedReleases } from '../releases/open-releases.ts';
import type { SearchLog } from '../searches/open-search-log.ts';
import { searchWithSynonyms } from '../synonyms/search-with-synonyms.ts';
import type { ServedSynonyms } from '../synonyms/synonym-resources.ts';
import type { ServedWebhooks } from '../webhooks/webhook-resources.ts';
import { type CallerApi, createCallerApis } from './api/caller-apis.ts';
import type { ContentApiOptions } from './api/content-api-options.ts';
import { createContentApi } from './api/create-content-api.ts';
import { createUploadApi } from './api/upload-api.ts';
import type { ForwardingOptions } from './forwarding/forward-writes.ts';
import type { Freshness } from './requests/await-position.ts';
import type { AssetRoutesOptions } from './routes/serve-assets.ts';

/** Parts of the HTTP API, for every role of a process. */
export type ServedApi = {
  readonly registry: SchemaRegistry;
  readonly access: AccessControl;
  readonly tokens: TokenCommands;
  readonly roles: RoleCommands;
  /** Returns the API for callers with these rights. */
  readonly apiFor: (rights: Rights) => CallerApi;
  /** Absent: nobody signs in. */
  readonly login?: LoginApi;
  readonly assets: AssetRoutesOptions;
  readonly freshness: Freshness;
  readonly forwarding: ForwardingOptions;
  /** A Strapi that is followed. */
  readonly follow?: FollowApi | undefined;
  /** Absent: this process serves content types that are being replaced. */
  readonly changes?: ChangeFeed | undefined;
  /** Absent: this process serves content types that are being replaced. */
  readonly history?: DocumentHistory | undefined;
  /** Key that encrypts tickets. */
  readonly ticketKey: Uint8Array;
  readonly search: ServedSearch;
  /** Absent: this process does not know webhooks yet. */
  readonly webhooks?: ServedWebhooks | undefined;
  /** Absent: there are no releases, because the content is that of a Strapi. */
  readonly releases?: ServedReleases | undefined;
  /** Absent: this process has no data directory, or does not know erasures yet. */
  readonly erasures?: ServedErasures | undefined;
};

/** Parts of searches that operators use. */
export type ServedSearch = {
  readonly synonyms: ServedSynonyms;
  /** undefined: this process does not count searches. */
  readonly counts: SearchLog | undefined;
};

/** Write side of requests. */
export type ApiWrites = Pick<ContentApiOptions, 'commands' | 'userId'> & { readonly library: FileLibrary };

export type ApisOptions = Omit<ContentApiOptions, 'commands' | 'userId' | 'caller'> & {
  readonly writes: ApiWrites;
  readonly delivery: DeliveryOptions;
  /** Returns the synonyms and rules that were set while servers run. It is the same object until they change. */
  readonly additions: () => SearchAdditions;
  /** Absent: searches are not counted. */
  readonly searches?: SearchLog | undefined;
};

export type DeliveryOptions = {
  /** Version of the program. */
  readonly version: string;
  /** Changes of the content. Absent: this process does not know them. */
  readonly positions?: TagPositions | undefined;
  /** Bytes of memory for whole answers. 0 or absent: none are remembered. */
  readonly cacheBytes?: number;
  readonly metrics?: Metrics | undefined;
  /** Absent: answers have no tags in their headers. */
  readonly tagging?: TaggingOptions | undefined;
  /** Absent: answers to tokens are private. */
  readonly cacheToken?: Pick<CacheToken, 'rights'> | undefined;
};

/** Bytes of memory for the ETags of recent answers, if whole answers are not remembered. */
const ETAG_BYTES = 16 * 2 ** 20;

/**
 * Creates the APIs of entries and files, by the rights of callers. When synonyms or rules change, the APIs are created again: answers get new
 * ETags, and none is remembered. `registry`: the content types for full access.
 */
export function createApis({
  registry,
  writes,
  delivery,
  additions,
  searches,
  ...options
}: ApisOptions): ServedApi['apiFor'] {
  const { commands, userId, library } = writes;
  const { index, defaultLocale, usersEnvelope } = options;
  const { cursorKey: _secret, ...rules } = options.rules;
  const { version } = delivery;
  const memory = answerMemory(delivery, registry, () => index.position());
  const shape = { version, types: nameShape(registry), defaultLocale, usersEnvelope, rules };
  const create = rememberLast((inForce: SearchAdditions) => {
    const searched = searchWithSynonyms(index, inForce.synonyms);
    const counted = searches?.count(searched) ?? searched;
    return createCallerApis(addRules(registry, inForce.rules), (visible, caller, rights) => {
      const shared = { ...options, index: searched, registry: visible, caller };
      const counting = searches && { ...searches, index: counted };
      return {
        content: createContentApi({ ...shared, index: counted, commands, userId }),
        uploads: createUploadApi({ ...shared, library }),
        instant: createInstantSearch({ ...shared, counting }),
        delivery: {
          generation: nameShape({ ...shape, additions: inForce, rights }),
          ...defined({
            known: memory?.create(),
            tagging: delivery.tagging && createTagging(delivery.tagging, visible),
            shared: delivery.cacheToken?.rights,
          }),
        },
      };
    });
  });
  return (rights) => create(additions())(rights);
}

function answerMemory(
  { positions, cacheBytes = 0, metrics }: DeliveryOptions,
  registry: SchemaRegistry,
  position: () => bigint,
): AnswerMemory | undefined {
  if (positions === undefined) return undefined;
  const keepsBodies = cacheBytes > 0;
  const maxBytes = keepsBodies ? cacheBytes : ETAG_BYTES;
  const memory = createAnswerMemory({ maxBytes, keepsBodies, position, registry, positions });
  const { counts } = memory;
  metrics?.total(METRICS.knownAnswers, () => counts.hits);
  metrics?.total(METRICS.unknownAnswers, () => counts.misses);
  metrics?.gauge(METRICS.answerCacheBytes, memory.bytes);
  return memory;
}
