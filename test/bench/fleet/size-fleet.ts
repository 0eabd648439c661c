/** What a fleet must hold and answer. */
export type Demand = {
  /** Rows, both worlds together. */
  readonly documents: number;
  readonly readsPerSecond: number;
  /** Events a second, at the peak. */
  readonly writesPerSecond: number;
};

/** What one core or machine does; the figures are measured, the sizes of machines chosen. */
export type Capacity = {
  /** Searches a second that one core of a data node answers. */
  readonly searchesPerCore: number;
  /** Requests a second that one core of an api process answers. */
  readonly requestsPerCore: number;
  /** Searches of an average request: one, and one for each populated level. */
  readonly searchesPerRequest: number;
  /** Bytes of a document in an index, both worlds' averages. */
  readonly bytesPerDocument: number;
  /** Events a second that a content graph is made from. */
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
  /** What decided the number of data nodes. */
  readonly boundBy: 'searches' | 'memory' | 'availability';
};

/** Busier than this, queues grow faster than load. */
const UTILISATION = 0.6;
/** A shard is moved and recovered as a whole. */
const SHARD_BYTES = 40 * 2 ** 30;
/** Of a data node's memory: the rest is heap and the system's. */
const CACHE_SHARE = 0.5;
/** Of an index: what queries touch again and again (columns, postings, the rows of first pages). */
const HOT_SHARE = 0.35;

/** Numbers of nodes, shards and processes. Each follows from one line; docs/sizing.md explains them. */
export function sizeFleet(demand: Demand, capacity: Capacity): FleetSize {
  const indexBytes = demand.documents * capacity.bytesPerDocument;
  const shards = Math.max(1, Math.ceil(indexBytes / SHARD_BYTES));
  const searches = demand.readsPerSecond * capacity.searchesPerRequest;
  // A search asks one copy of every shard of its type; types are spread evenly, so the work of one search is one core's.
  const forSearches = Math.ceil(
    searches / (capacity.searchesPerCore * capacity.coresPerDataNode * UTILISATION),
  );
  const cachePerNode = capacity.memoryPerDataNode * CACHE_SHARE;
  // Every copy of the hot part is in memory somewhere; a node or zone that is lost leaves one copy at least.
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
