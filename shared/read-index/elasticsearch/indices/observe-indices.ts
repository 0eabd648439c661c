import type { Client } from '@elastic/elasticsearch';
import { namesAtOnce } from './names-at-once.ts';

/** Content of an index as its primary shards report it, without reading a document. */
export type ObservedContent = {
  readonly uuid: string;
  readonly isOpen: boolean;
  /** False while the primary of some shard does not answer. */
  readonly isAssigned: boolean;
  /**
   * Names the histories of the shards. Elasticsearch begins a new one when a snapshot is restored, or when a copy that lacks writes is
   * made the primary.
   */
  readonly histories: string;
  /** Nodes of the primaries. */
  readonly nodes: string;
  /** Number of write operations that the index has carried out, including deletions. It never decreases in one history. */
  readonly operations: number;
};

/** Definition of an index in the state of the cluster. */
export type ObservedDefinition = {
  readonly aliases: readonly string[];
  /** Names of the index's blocks, such as `read_only`. */
  readonly blocks: readonly string[];
  /** Number that grows with each change of the mapping. */
  readonly mapping: number;
};

/** Definitions of all indices of a namespace in one state of the cluster. */
export type ObservedDefinitions = {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Number of the state. It grows with each change of a definition. */
  readonly version: number;
  readonly indices: ReadonlyMap<string, ObservedDefinition>;
};

/**
 * Observes the indices of a namespace, including closed ones. Each call is one small request. Each node answers with the state that it
 * knows, which may be older than what another node has answered before.
 */
export type IndexObserver = {
  contents(): Promise<ReadonlyMap<string, ObservedContent>>;
  definitions(): Promise<ObservedDefinitions>;
  /** Returns the number of the state of the cluster. */
  version(): Promise<number>;
  /** Returns the numbers of documents that searches find in these indices. undefined: an index does not answer. */
  count(indices: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Makes all documents of these indices visible to searches. */
  refresh(indices: readonly string[]): Promise<void>;
};

const OPTIONS = { requestTimeout: 10_000, maxRetries: 0 };

const CONTENTS = [
  'uuid',
  'status',
  'health',
  'shards.*.routing',
  'shards.*.commit.user_data.history_uuid',
  'shards.*.seq_no.max_seq_no',
].map((field) => `indices.*.${field}`);
const DEFINITIONS = ['mapping_version', 'aliases', 'settings.index.blocks']
  .map((field) => `metadata.indices.*.${field}`)
  .concat('version', 'cluster_uuid');

type Shard = {
  readonly routing: { readonly primary: boolean; readonly node: string };
  readonly commit?: { readonly user_data?: { readonly history_uuid?: string } };
  readonly seq_no?: { readonly max_seq_no: number };
};
type StatsAnswer = {
  readonly indices?: {
    readonly [index: string]: {
      readonly uuid: string;
      readonly status: string;
      readonly health: string;
      readonly shards?: { readonly [shard: string]: readonly Shard[] };
    };
  };
};
type StateAnswer = {
  readonly cluster_uuid?: string;
  readonly version?: number;
  readonly metadata?: {
    readonly indices?: {
      readonly [index: string]: {
        readonly mapping_version: number;
        readonly aliases?: readonly string[];
        readonly settings?: { readonly index?: { readonly blocks?: Readonly<Record<string, unknown>> } };
      };
    };
  };
};

/** Creates the observer of a namespace. */
export function createIndexObserver(client: Client, space: string): IndexObserver {
  const get = (path: string) => client.transport.request({ method: 'GET', path }, OPTIONS);
  const all = 'expand_wildcards=all';
  return {
    async contents() {
      const options = `level=shards&${all}&forbid_closed_indices=false&filter_path=${CONTENTS.join()}`;
      const { indices = {} } = (await get(`/${space}-*/_stats/docs?${options}`)) as StatsAnswer;
      return new Map(
        Object.entries(indices).map(([index, { uuid, status, health, shards = {} }]) => {
          const primaries = Object.keys(shards)
            .sort()
            .flatMap((number) => shards[number]?.filter(({ routing }) => routing.primary) ?? []);
          return [index, { uuid, isOpen: status === 'open', ...contentOf(primaries, health) }];
        }),
      );
    },
    async definitions() {
      const path = `/_cluster/state/version,metadata/${space}-*?${all}&filter_path=${DEFINITIONS.join()}`;
      // The number and the definitions are of one state only if they are in one answer.
      const { cluster_uuid: cluster = '', version = 0, metadata } = (await get(path)) as StateAnswer;
      const indices = new Map(
        Object.entries(metadata?.indices ?? {}).map(([index, found]) => [
          index,
          {
            aliases: found.aliases ?? [],
            blocks: blocksOf(found.settings?.index?.blocks ?? {}),
            mapping: found.mapping_version,
          },
        ]),
      );
      return { cluster, version, indices };
    },
    async version() {
      const { version = 0 } = (await get('/_cluster/state/version?filter_path=version')) as StateAnswer;
      return version;
    },
    count: (indices) => countDocuments(client, indices),
    async refresh(indices) {
      for (const index of namesAtOnce(indices)) await client.indices.refresh({ index }, OPTIONS);
    },
  };
}

/** Counts documents without their nested parts, all indices in one request. */
async function countDocuments(
  client: Client,
  indices: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const searches = indices.flatMap((index) => [
    { index, allow_partial_search_results: false },
    { size: 0, track_total_hits: true },
  ]);
  const { responses } = await client.msearch({ searches }, OPTIONS);
  return responses.map((answer) => {
    if (!('hits' in answer) || answer.timed_out || answer._shards.failed > 0) return undefined;
    const { total } = answer.hits;
    return typeof total === 'object' ? total.value : total;
  });
}

function contentOf(primaries: readonly Shard[], health: string) {
  const histories = primaries.map(({ commit }) => commit?.user_data?.history_uuid);
  return {
    // A copy that has just become the primary may report no commit yet. That is no other history.
    isAssigned: health !== 'red' && primaries.length > 0 && !histories.includes(undefined),
    histories: histories.join(),
    nodes: primaries.map(({ routing }) => routing.node).join(),
    operations: primaries.reduce((sum, { seq_no }) => sum + (seq_no?.max_seq_no ?? -1) + 1, 0),
  };
}

/** Returns the names of blocks that are set. A block that was lifted may remain with the value `false`. */
function blocksOf(blocks: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(blocks).filter((name) => String(blocks[name]) === 'true');
}
