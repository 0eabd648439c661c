import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { geomean, num, table } from '../conformance/bench/common.mjs';
import { planElasticsearch, startElasticsearch, stopElasticsearch } from '../support/elasticsearch-node.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { ROOT, writeDenormalisedTypes } from './bench-data.ts';
import { type Comparison, compareLoads, type Sides } from './compare-loads.ts';
import { measureLoad } from './measure-load.ts';
import type { PairedMedian } from './paired-ratios.ts';
import { createRawSearches } from './raw-searches.ts';
import { recordSearches } from './recorded-searches.ts';
import { type ServerProcess, startProcess } from './server-process.ts';
import type { NamedLoad } from './typed-words.ts';

export type ElasticsearchBenchOptions = {
  /** URL of Elasticsearch. Absent: a node is started for the run. */
  readonly url: string | undefined;
  readonly data: string;
  readonly scratch: string;
  /** Keeps the indices for another run over the same data. */
  readonly keep: boolean;
  /** Duration of one measurement. A round has two: one of Varve, one of Elasticsearch alone. */
  readonly seconds: number;
  readonly rounds: number;
  /** Seconds in which all queries run before the first measurement. New processes get faster for a while. */
  readonly warmUp: number;
  readonly connections: readonly number[];
  readonly seed: number;
  readonly loads: readonly NamedLoad[];
  /** Folder of content types, copied for the run. Absent: types whose documents copy the relations that `queries.json` traverses. */
  readonly contentTypes?: string;
  readonly say: (line: string) => void;
};

/** Namespace of the log and of the indices. */
export const SPACE = 'bench';
const WARM_UP_CONNECTIONS = 16;
const NODE_FLAGS = ['--min-semi-space-size=32'];

/**
 * Measures each query on Varve with Elasticsearch, and on Elasticsearch alone. Elasticsearch gets the requests that Varve sends for
 * other requests of the same kind. Both alternate for several rounds and the medians count, so that other load on the machine affects
 * both. No request is sent twice, to Varve or by it. Answers are read, not parsed. Varve on its embedded index is measured too. All
 * processes share the machine: the CPU time per answer shows how much of it each process uses.
 */
export async function benchElasticsearch(options: ElasticsearchBenchOptions): Promise<void> {
  const { data, scratch, say } = options;
  const plan =
    options.url === undefined
      ? await planElasticsearch({ ...process.env, VARVE_TEST_ELASTICSEARCH: 'local' })
      : undefined;
  const url =
    options.url ??
    (await startElasticsearch(plan ?? { kind: 'none', why: 'none was given' }, 'to be measured'));
  const types = options.contentTypes ?? join(scratch, 'denormalised-types');
  if (options.contentTypes === undefined) writeDenormalisedTypes(types);
  const copy = join(scratch, 'embedded-data');
  cpSync(data, copy, { recursive: true });
  try {
    const started = performance.now();
    const server = await serve(types, data, ['--read-index', url, '--space', SPACE]);
    say(`start-up on Elasticsearch: ${num((performance.now() - started) / 1000)} s`);
    const merged = await fetch(`${url}/${SPACE}-*/_forcemerge?max_num_segments=1`, { method: 'POST' });
    if (!merged.ok) throw new Error(await merged.text());
    const embedded = await serve(types, copy, ['--space', SPACE]);
    const loaded = loadContentTypes(types);
    if (loaded.kind !== 'loaded') throw new Error(JSON.stringify(loaded.problems));
    const raw = createRawSearches({ url, space: SPACE, registry: loaded.registry });
    report(await measureAll(options, { url, server, embedded, raw }), options);
    await Promise.all([server.stop(), embedded.stop(), raw.close()]);
  } finally {
    if (!options.keep) await removeIndices(url, SPACE);
    if (plan !== undefined) stopElasticsearch(plan);
  }
}

function serve(types: string, data: string, more: readonly string[]): Promise<ServerProcess> {
  const command = ['services/cli/varve.ts', 'serve', '--content-types', types, '--data', data];
  return startProcess([...NODE_FLAGS, ...command, '--port', '0', ...more], ROOT, '/_health');
}

type Row = Comparison & { readonly name: string };

async function measureAll(options: ElasticsearchBenchOptions, sides: Sides): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const { seconds, rounds, connections } = options;
  await warmUp(options, sides);
  for (const { name, source } of options.loads) {
    const requests = source(options.seed);
    let used = 0;
    let usedEmbedded = 0;
    const request = () => requests.get(used++);
    const embeddedRequest = () => requests.get(usedEmbedded++);
    const recorded = await recordSearches(sides.raw, request);
    for (const n of connections) {
      const compared = { request, embeddedRequest, recorded, connections: n, seconds, rounds };
      const row = { name, ...(await compareLoads(sides, compared)) };
      rows.push(row);
      const rates = [row.varve, row.raw, row.embedded].map(({ rate }) => num(rate, 0));
      const cpu = [row.varve.cpu.varve, row.varve.cpu.node, row.raw.cpu.node].map((ms) => num(ms, 2));
      const shares = `CPU ms ${cpu[0]} and its node ${cpu[1]}, directly ${cpu[2]}`;
      const byCpu = `by CPU ${num(row.cpuRatio.median)}`;
      console.error(
        `${name}, ${n}: ${rates.join(' / ')}, ratio ${num(row.ratio.median)}, ${byCpu}, ${shares}`,
      );
    }
    const repeated = requests.repeats(used) + requests.repeats(usedEmbedded);
    if (repeated > 0) options.say(`${name}: the template has too few values, ${repeated} URLs were repeated`);
  }
  return rows;
}

async function warmUp({ loads, seed, warmUp: seconds }: ElasticsearchBenchOptions, sides: Sides) {
  for (const { source } of loads) {
    // The warm-up sends other requests than the measurement.
    const requests = source(seed + 1);
    let used = 0;
    const traffic = { base: sides.server.base, request: () => requests.get(used++) };
    await measureLoad(traffic, WARM_UP_CONNECTIONS, seconds / loads.length);
  }
}

function report(rows: readonly Row[], { say, connections }: ElasticsearchBenchOptions): void {
  const head = [
    ...['query', 'connections', 'Varve on Elasticsearch req/s', 'p50 ms', 'p99 ms'],
    ...['Elasticsearch directly req/s', 'p50 ms', 'requests', 'ratio', 'interval', 'by CPU', 'interval'],
    'overhead p50 ms',
    ...['CPU ms: Varve', 'its node', 'its load', 'direct: node', 'load'],
    ...['Varve embedded req/s', 'failed', 'repeated'],
  ];
  const lines = rows.map(({ name, connections: n, varve, raw, embedded, ratio, cpuRatio, ...row }) => [
    ...[name, n, num(varve.rate, 0), num(varve.p50), num(varve.p99)],
    ...[num(raw.rate, 0), num(raw.p50), num(row.requests, 1)],
    ...[num(ratio.median), interval(ratio), num(cpuRatio.median), interval(cpuRatio), num(row.overhead)],
    ...[varve.cpu.varve, varve.cpu.node, varve.cpu.load, raw.cpu.node, raw.cpu.load].map((ms) => num(ms, 2)),
    ...[num(embedded.rate, 0), row.failed, row.repeated],
  ]);
  say(table(head, lines));
  for (const n of connections) {
    const measured = rows.filter((row) => row.connections === n);
    const [rates, cpu] = [measured.map(({ ratio }) => ratio), measured.map(({ cpuRatio }) => cpuRatio)];
    say(`${n} connections: ratios to Elasticsearch ${means(rates)}; by CPU ${means(cpu)}`);
  }
  for (const { name, failures } of rows) for (const failure of failures) say(`${name} failed: ${failure}`);
}

function interval({ low, high }: PairedMedian): string {
  return `${num(low)} to ${num(high)}`;
}

function means(ratios: readonly PairedMedian[]): string {
  const medians = ratios.map(({ median }) => median);
  return `geometric mean ${num(geomean(medians))}, smallest ${num(Math.min(...medians))}`;
}
