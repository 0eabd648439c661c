import { type Client, errors } from '@elastic/elasticsearch';
import type { OwnerStore } from '../../owner-record.ts';
import type { Uid } from '../../schema/content-type.ts';
import type { SchemaRegistry } from '../../schema/schema-registry.ts';
import type { ClusterWatch } from '../cluster-health.ts';
import type { Dependency, DocumentIndex } from '../document-index.ts';
import type { ProgressStore } from '../index-progress.ts';
import type { IndexSet } from '../index-set.ts';
import type { PurgingLeaderStore } from '../purging-leader.ts';
import type { StoredDocuments } from '../stored-documents.ts';
import { createDocumentWriter } from './document-writer.ts';
import { isBlocked } from './indices/acknowledged.ts';
import { watchCluster } from './indices/cluster-health.ts';
import type { IndexSpread } from './indices/create-index.ts';
import { forgetProgress } from './indices/forget-progress.ts';
import { createIndexSets, type IndexSets } from './indices/index-sets.ts';
import { createLeaderFence, type LeaderFence } from './indices/leader-fence.ts';
import { mergeSegments } from './indices/merge-segments.ts';
import {
  findUnusable,
  haveAllIndices,
  type OpenedIndices,
  openIndices,
  type UnusableTypes,
} from './indices/open-indices.ts';
import {
  createOwnerDocument,
  createProgressDocument,
  openProgressIndex,
} from './indices/progress-document.ts';
import { placesOf } from './indices/read-indices.ts';
import { createPurgingLeaderDocument } from './indices/space-document.ts';
import { createWatchedIndices, type WatchedIndices } from './indices/watched-indices.ts';
import { createLayouts } from './layout/create-layouts.ts';
import { dependenciesOf } from './layout/dependencies.ts';
import type { DenormaliseSettings, DocumentLayout } from './layout/document-layout.ts';
import { createIndexNames, type IndexNames } from './layout/index-names.ts';
import { type CurrentSet, createCurrentSet } from './read/current-set.ts';
import { createElasticsearchReader, type ElasticsearchReader } from './read/elasticsearch-reader.ts';
import { readStoredDocuments } from './read/read-stored-documents.ts';
import { createRowCache } from './read/row-cache.ts';
import { createElasticsearchClient, type ElasticsearchConnection } from './wire/client.ts';
import { createSearchEngine } from './wire/search-engine.ts';

/** A cluster with the indices of a namespace. */
export type ElasticsearchCluster = {
  readonly reader: ElasticsearchReader;
  readonly stored: StoredDocuments;
  /**
   * Creates a writer for a set; default: the one last used in this process, if any. At first all indices count as unrefreshed, because
   * another process may have written them.
   */
  createWriter(set?: IndexSet): DocumentIndex;
  /** The index set that this process reads. */
  readonly indices: CurrentSet;
  /** The indices as somebody else may change them. */
  readonly watched: WatchedIndices;
  /** Returns the index sets of a data directory: the live one, and functions to make others and to switch to them. */
  sets(log: string, directory: string): IndexSets;
  /** Makes reads and writes use this set. */
  use(set: IndexSet): void;
  /** Makes reads use the live set, which another process writes and may replace. */
  useLive(): void;
  /** Returns the progress of the documents relative to a log. */
  progress(log: string): ProgressStore;
  /** Forgets what leaders of a later state of the log have published. Later leaders publish earlier positions again. */
  forgetProgress(log: string): Promise<void>;
  /** Returns the announcement of the leader of a log that purges caches. */
  purgingLeader(log: string): PurgingLeaderStore;
  /** Merges the segments of these indices (see `mergeSegments`). */
  merge(indices: readonly string[], signal: AbortSignal): Promise<void>;
  /** Resolves when the cluster answers and the namespace's indices can be searched. See `isPassingFailure`. */
  ready(): Promise<void>;
  /** Makes the missing indices. Only the process that writes calls it. */
  openIndices(options: {
    readonly log: string;
    readonly replaceAll: boolean;
    readonly distrusted: readonly Uid[];
    readonly epoch: number;
  }): Promise<OpenedIndices>;
  readonly watch: ClusterWatch;
  readonly fence: LeaderFence;
  /** Record of the log that writes the namespace's indices. */
  readonly owner: OwnerStore;
  /** Returns whether reads find, for every content type, an index that was made from this log and for the current definition. */
  isWhole(log: string): Promise<boolean>;
  /** Returns the content types whose indices cannot be used for this log. */
  unusable(log: string): Promise<UnusableTypes>;
  close(): Promise<void>;
};

export type ElasticsearchClusterOptions = {
  readonly connection: ElasticsearchConnection;
  readonly space: string;
  readonly registry: SchemaRegistry;
  /** Shards and replicas; default: one shard, and a replica if there is a node for it. */
  readonly spread?: IndexSpread;
  /** Copying of relations into documents, for content types that do not configure it. */
  readonly denormalise?: DenormaliseSettings;
  /** Bytes for rows that are read repeatedly in this process; default: no rows are cached. */
  readonly rowCacheBytes?: number;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

const ONE_SHARD: IndexSpread = { shards: 1, replicas: undefined };
const LIMITS = { semiJoinLimit: 1_000_000, sortLimit: 100_000, groupLimit: 10_000 };
const READY_WITHIN = '10s';

/** Creates the cluster. It connects to nothing yet. Throws a sentence if a content type does not fit into an index. */
export function createElasticsearchCluster(options: ElasticsearchClusterOptions): ElasticsearchCluster {
  const { connection, space, registry, rowCacheBytes = 0, now = () => performance.now() } = options;
  const layouts = createLayouts(registry, options.denormalise);
  const client = createElasticsearchClient(connection);
  const names = createIndexNames(space);
  const all = [...layouts.values()];
  const aliases = aliasesOf(all, names);
  const watched = createWatchedIndices(client, space, aliases);
  const indices = createCurrentSet(watched.readLive, now);
  let written: IndexSet = {};
  /** Indices that this process has made or used last. */
  let known: IndexSet = {};
  const spread = options.spread ?? ONE_SHARD;
  const layoutOf = (type: Uid) => requireLayout(layouts, type);
  return {
    indices,
    watched,
    sets: (log, directory) => createIndexSets({ client, names, space, layouts: all, log, spread, directory }),
    use(set) {
      indices.fix(set);
      written = set;
      known = set;
    },
    useLive() {
      indices.release();
      written = {};
    },
    reader: createElasticsearchReader({
      indices,
      faults: watched.faults,
      engine: createSearchEngine(client),
      ...(rowCacheBytes > 0 && { rows: createRowCache({ maxBytes: rowCacheBytes }) }),
      names,
      layouts: layoutOf,
      ...LIMITS,
    }),
    createWriter: (set = written) =>
      createDocumentWriter({ client, names, layouts: layoutOf, types: layouts.keys(), set }),
    ...createSharedDocuments(client, space),
    stored: readStoredDocuments(client, (type, world) => {
      const alias = names.alias(type, world);
      return written[alias] ?? alias;
    }),
    ...createMaintenance(client, space),
    watch: watchCluster(connection.url ?? connection.cloudId, { client, space, aliases }),
    async openIndices(opening) {
      await openProgressIndex(client, space);
      const opened = await openIndices({ ...opening, client, names, space, layouts: all, spread, known });
      known = opened.set;
      return opened;
    },
    isWhole: (log) => haveAllIndices({ client, names, space, layouts: all, log }),
    unusable: (log) => findUnusable({ client, names, space, layouts: all, log }),
    close: () => client.close(),
  };
}

/** Creates the calls that concern indices, whatever is in them. */
function createMaintenance(client: Client, space: string): Pick<ElasticsearchCluster, 'merge' | 'ready'> {
  return {
    merge: (indices, signal) => mergeSegments(client, indices, signal),
    async ready() {
      const health = { index: `${space}-*`, wait_for_status: 'yellow', timeout: READY_WITHIN } as const;
      await client.cluster.health(health, { maxRetries: 0 });
    },
  };
}

type SharedDocuments = Pick<
  ElasticsearchCluster,
  'progress' | 'forgetProgress' | 'purgingLeader' | 'fence' | 'owner'
>;

/** Creates the documents that the processes of a namespace share, besides those of the content. */
function createSharedDocuments(client: Client, space: string): SharedDocuments {
  return {
    progress: (log) => createProgressDocument({ client, space, log }),
    forgetProgress: (log) => forgetProgress({ client, space, log }),
    purgingLeader: (log) => createPurgingLeaderDocument(client, space, log),
    fence: createLeaderFence(client, space),
    owner: createOwnerDocument(client, space),
  };
}

function requireLayout(layouts: ReadonlyMap<Uid, DocumentLayout>, type: Uid): DocumentLayout {
  const layout = layouts.get(type);
  if (layout === undefined) throw new Error(`content type ${type} has no index`);
  return layout;
}

/** Returns the content type of each name under which searches find an index. */
function aliasesOf(layouts: readonly DocumentLayout[], names: IndexNames): ReadonlyMap<string, Uid> {
  return new Map(
    placesOf(layouts).map(({ layout, world }) => [names.alias(layout.type, world), layout.type]),
  );
}

/** Returns the rows that the documents of all content types show besides their own. `denormalise`: the setting of the cluster. */
export function documentDependencies(
  registry: SchemaRegistry,
  denormalise?: DenormaliseSettings,
): readonly Dependency[] {
  return [...createLayouts(registry, denormalise).values()].flatMap(dependenciesOf);
}

/** Returns whether time or an operator can fix a failure; false if the cluster understood the request and refused it. */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof errors.ResponseError)) return error instanceof errors.ElasticsearchClientError;
  if (isBlocked(error)) return true;
  const status = error.statusCode ?? 500;
  return status >= 500 || status === 429 || status === 408;
}
