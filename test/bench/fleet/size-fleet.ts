/** Documents that a fleet must hold, and requests that it must answer. */
export type Demand = {
  /** Rows, both worlds together. */
  readonly documents: number;
  readonly readsPerSecond: number;
  /** Events a second, at the peak. */
  readonly writesPerSecond: number;
};

/** Capacity of one core or machine. The rates are measured; the sizes of machines are chosen. */
export type Capacity = {
  /** Searches a second that one core of a data node answers. */
  readonly searchesPerCore: number;
  /** Requests a second that one core of an api process answers. */
  readonly requestsPerCore: number;
  /** Searches of an average request: one, and one for each populated level. */
  readonly searchesPerRequest: number;
  /** Bytes of a document in an index, both worlds' averages. */
  readonly bytesPerDocument: number;
  /** Events a second that a replay into a content graph applies. */
  readonly replayPerSecond: number;
  readonly coresPerDataNode: number;
  readonly memoryPerDataNode: number;
  readonly coresPerApi: number;
};

export type FleetSize = {
  readonly indexBytes: number;
  /** Primaries of all indices together. */
  readonly shards: number;
  /** Copies of each, the primary included. */
  readonly copies: number;
  readonly dataNodes: number;
  readonly apiProcesses: number;
  /** Hours to make a content graph from a log with one event a document. */
  readonly replayHours: number;
  /** The limit that decided the number of data nodes. */
  readonly boundBy: 'searches' | 'memory' | 'availability';
};

/** Target utilisation of a core. Above it, queues grow faster than the load. */
const UTILISATION = 0.6;
/** A shard is moved and recovered as a whole. */
const SHARD_BYTES = 40 * 2 ** 30;
/** Share of a data node's memory that caches index files. The heap and the system use the rest. */
const CACHE_SHARE = 0.5;
/** Share of an index that queries read again and again: columns, postings, the rows of first pages. */
const HOT_SHARE = 0.35;

/** Numbers of nodes, shards and processes. Each follows from one line; docs/sizing.md explains them. */
export function sizeFleet(demand: Demand, capacity: Capacity): FleetSize {
  const indexBytes = demand.documents * capacity.bytesPerDocument;
  const shards = Math.max(1, Math.ceil(indexBytes / SHARD_BYTES));
  const searches = demand.readsPerSecond * capacity.searchesPerRequest;
  // A search asks one copy of every shard of its type. Types are spread evenly, so one search costs the work of one core.
  const forSearches = Math.ceil(
    searches / (capacity.searchesPerCore * capacity.coresPerDataNode * UTILISATION),
  );
  const cachePerNode = capacity.memoryPerDataNode * CACHE_SHARE;
  // Two copies of the hot part fit in memory, so one copy is left after the loss of a node or zone.
  const forMemory = Math.ceil((indexBytes * HOT_SHARE * 2) / cachePerNode);
  const dataNodes = Math.max(3, forSearches, forMemory);
  const copies = Math.max(2, Math.min(dataNodes, Math.round(dataNodes / Math.max(shards, 1))));
  return {
    indexBytes,
    shards,
    copies,
    dataNodes,
    apiProcesses: Math.max(
      2,
      Math.ceil(demand.readsPerSecond / (capacity.requestsPerCore * capacity.coresPerApi * UTILISATION)),
    ),
    replayHours: demand.documents / capacity.replayPerSecond / 3600,
    boundBy: dataNodes === forSearches ? 'searches' : dataNodes === forMemory ? 'memory' : 'availability',
  };
}
