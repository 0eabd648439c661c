import { median } from '../conformance/bench/common.mjs';
import {
  type LoadRequest,
  type LoadResult,
  type MeasuredLoad,
  measureLoad,
  type Traffic,
} from './measure-load.ts';
import { type PairedMedian, pairedMedian } from './paired-ratios.ts';
import type { RawSearches } from './raw-searches.ts';
import type { RecordedSearches } from './recorded-searches.ts';
import type { ServerProcess } from './server-process.ts';

export type Sides = {
  /** URL of Elasticsearch. */
  readonly url: string;
  /** Varve on Elasticsearch. `embedded`: Varve on its embedded index. */
  readonly server: ServerProcess;
  readonly embedded: ServerProcess;
  readonly raw: RawSearches;
};

export type CompareOptions = {
  /** Returns another request at every call. */
  readonly request: () => LoadRequest;
  /** The same for the embedded index. It may get requests that only the other server has had. */
  readonly embeddedRequest: () => LoadRequest;
  readonly recorded: RecordedSearches;
  readonly connections: number;
  /** Duration of one measurement. A round has two: one of Varve, one of the raw engine. */
  readonly seconds: number;
  readonly rounds: number;
};

/** CPU milliseconds per answer, of Varve's process, of the Elasticsearch node and of the process that sends the load. */
type CpuShares = { readonly varve: number; readonly node: number; readonly load: number };

type Measured = Pick<MeasuredLoad, 'rate' | 'p50' | 'p99' | 'failed' | 'failures'> & {
  readonly cpu: CpuShares;
};

/** Medians over the rounds. A rate or time of the raw engine is that of all requests that Varve sends for one answer. */
export type Comparison = {
  readonly connections: number;
  readonly varve: Measured;
  readonly raw: Measured;
  readonly requests: number;
  /** Varve's rate divided by the raw engine's, within a round. */
  readonly ratio: PairedMedian;
  /** The same ratio of CPU times: the node's alone, divided by that of Varve with its node. Other load hardly affects it. */
  readonly cpuRatio: PairedMedian;
  /** Difference of the p50 latencies, in milliseconds. */
  readonly overhead: number;
  readonly embedded: LoadResult;
  readonly failed: number;
  readonly failures: readonly string[];
  /** Number of requests that the raw engine got a second time. */
  readonly repeated: number;
};

/** Factor of spare requests: the next rate may be higher than the last. */
const SPARE = 1.4;

/** Loads Varve and the raw engine in turns. */
export async function compareLoads(sides: Sides, options: CompareOptions): Promise<Comparison> {
  const { request, embeddedRequest, recorded, connections, seconds, rounds } = options;
  const varve: Traffic = { base: sides.server.base, request };
  const direct: Traffic = { base: sides.url, request: () => recorded.next(), hasFailed: hasFailedSearch };
  const pairs: { readonly varve: Measured; readonly raw: Measured }[] = [];
  let answers = 50 * connections;
  let repeatedBefore = 0;
  await measureLoad(varve, connections, seconds / 2);
  for (let round = -1; round < rounds; round++) {
    await recorded.prepare(answers);
    await clearCaches(sides);
    const measureRaw = async () => perAnswer(await measure(sides, direct, connections, seconds), recorded);
    const measureVarve = () => measure(sides, varve, connections, seconds);
    // Both take turns in being first.
    const early = round % 2 === 0 ? await measureVarve() : undefined;
    const raw = await measureRaw();
    answers = Math.max(answers, raw.rate * seconds * SPARE);
    const pair = { raw, varve: early ?? (await measureVarve()) };
    // The first round only warms up both, and finds out how many requests a round needs.
    if (round >= 0) pairs.push(pair);
    else repeatedBefore = recorded.repeated();
  }
  const embedded: Traffic = { base: sides.embedded.base, request: embeddedRequest };
  await measureLoad(embedded, connections, seconds / 2);
  const besides = await measureLoad(embedded, connections, seconds);
  const repeated = recorded.repeated() - repeatedBefore;
  const common = { connections, requests: recorded.perAnswer, repeated, embedded: besides };
  return { ...common, ...summary(pairs, besides) };
}

/** Returns true if one of several searches failed. In a string of a document, these quotes would be escaped. */
function hasFailedSearch(body: string): boolean {
  return body.includes('"error":{');
}

/** Clears the node's caches. Some requests were already sent once to record them, and their answers must not come from a cache. */
async function clearCaches({ url }: Sides): Promise<void> {
  const cleared = await fetch(`${url}/_cache/clear?request=true&query=true`, { method: 'POST' });
  if (!cleared.ok) throw new Error(await cleared.text());
}

function summary(
  pairs: readonly { readonly varve: Measured; readonly raw: Measured }[],
  besides: MeasuredLoad,
): Pick<Comparison, 'varve' | 'raw' | 'ratio' | 'cpuRatio' | 'overhead' | 'failed' | 'failures'> {
  const [varve, raw] = [medians(pairs.map((pair) => pair.varve)), medians(pairs.map((pair) => pair.raw))];
  const all = [varve, raw, besides];
  return {
    varve,
    raw,
    ratio: pairedMedian(pairs.map((pair) => pair.varve.rate / pair.raw.rate)),
    cpuRatio: pairedMedian(
      pairs.map((pair) => pair.raw.cpu.node / (pair.varve.cpu.varve + pair.varve.cpu.node)),
    ),
    overhead: median(pairs.map((pair) => pair.varve.p50 - pair.raw.p50)),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    failures: all.flatMap(({ failures }) => failures),
  };
}

function medians(measured: readonly Measured[]): Measured {
  const of = (pick: (each: Measured) => number) => median(measured.map(pick));
  return {
    rate: of(({ rate }) => rate),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    failed: measured.reduce((sum, { failed }) => sum + failed, 0),
    failures: measured.flatMap(({ failures }) => failures),
    cpu: {
      varve: of(({ cpu }) => cpu.varve),
      node: of(({ cpu }) => cpu.node),
      load: of(({ cpu }) => cpu.load),
    },
  };
}

async function measure(
  sides: Sides,
  traffic: Traffic,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const before = await cpuMilliseconds(sides);
  const result = await measureLoad(traffic, connections, seconds);
  const after = await cpuMilliseconds(sides);
  const share = (of: keyof CpuShares) => (after[of] - before[of]) / Math.max(1, result.requests);
  return { ...result, cpu: { varve: share('varve'), node: share('node'), load: share('load') } };
}

async function cpuMilliseconds({ url, server }: Sides): Promise<CpuShares> {
  const path = '/_nodes/stats/process?filter_path=nodes.*.process.cpu.total_in_millis';
  const { nodes } = (await (await fetch(url + path)).json()) as NodeStats;
  const { user, system } = process.cpuUsage();
  const node = Object.values(nodes).reduce((sum, stats) => sum + stats.process.cpu.total_in_millis, 0);
  return { varve: server.cpuSeconds() * 1000, node, load: (user + system) / 1000 };
}

type NodeStats = {
  readonly nodes: {
    readonly [id: string]: { readonly process: { readonly cpu: { readonly total_in_millis: number } } };
  };
};

function perAnswer(
  { rate, p50, p99, cpu, ...failing }: Measured,
  { perAnswer: times }: RecordedSearches,
): Measured {
  const shares = { varve: cpu.varve * times, node: cpu.node * times, load: cpu.load * times };
  return { rate: rate / times, p50: p50 * times, p99: p99 * times, cpu: shares, ...failing };
}
