import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { Distinct, geomean, num, table } from '../conformance/bench/common.mjs';
import { planElasticsearch, startElasticsearch, stopElasticsearch } from '../support/elasticsearch-node.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { ROOT, writeDenormalisedTypes } from './bench-data.ts';
import { get, type LoadRequest, type LoadResult, measureLoad, type Traffic } from './measure-load.ts';
import { createRawSearches, type RawSearches } from './raw-searches.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export type ElasticsearchBenchOptions = {
  /** Absent: a node is started for the run. */
  readonly url: string | undefined;
  readonly data: string;
  readonly scratch: string;
  /** The indices are left for another run over the same data. */
  readonly keep: boolean;
  readonly seconds: number;
  readonly connections: readonly number[];
  readonly seed: number;
  readonly queries: readonly { readonly name: string; readonly template: string }[];
  readonly say: (line: string) => void;
};

const SPACE = 'bench';
const NODE_FLAGS = ['--min-semi-space-size=32'];
/** Answers whose searches are recorded for the raw engine; it gets the same again when it has had them all. */
const RECORDED = 2000;
const RECORDED_AT_ONCE = 8;

/**
 * Measures each query three times over: Varve on Elasticsearch, Elasticsearch directly with the very requests that Varve sends
 * for it, right before and after, and Varve on its embedded index. All processes share the machine.
 */
export async function benchElasticsearch(options: ElasticsearchBenchOptions): Promise<void> {
  const { data, scratch, say } = options;
  const plan = options.url === undefined ? await planElasticsearch() : undefined;
  const url = options.url ?? (await startElasticsearch(plan ?? { kind: 'none', why: 'none was given' }));
  const types = join(scratch, 'denormalised-types');
  writeDenormalisedTypes(types);
  const copy = join(scratch, 'embedded-data');
  cpSync(data, copy, { recursive: true });
  try {
    const started = performance.now();
    const server = await serve(types, data, ['--read-index', url, '--space', SPACE]);
    say(`start-up on Elasticsearch: ${num((performance.now() - started) / 1000)} s`);
    const merged = await fetch(`${url}/${SPACE}-*/_forcemerge?max_num_segments=1`, { method: 'POST' });
    if (!merged.ok) throw new Error(await merged.text());
    const embedded = await serve(types, copy, []);
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

type Sides = {
  readonly url: string;
  readonly server: ServerProcess;
  readonly embedded: ServerProcess;
  readonly raw: RawSearches;
};

type Row = {
  readonly name: string;
  readonly connections: number;
  readonly varve: LoadResult;
  /** Answers, of as many requests as one answer of Varve's takes. */
  readonly raw: { readonly rate: number; readonly p50: number };
  readonly requests: number;
  readonly embedded: LoadResult;
};

async function measureAll(options: ElasticsearchBenchOptions, sides: Sides): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, template } of options.queries) {
    const paths = new Distinct(template, options.seed);
    const recorded = await record(sides.raw, (i) => paths.get(i));
    for (const connections of options.connections) {
      const row = await measureQuery(options, sides, paths, recorded, connections);
      rows.push({ name, connections, ...row });
      const rates = [row.varve.rate, row.raw.rate, row.embedded.rate].map((rate) => num(rate, 0));
      console.error(`${name}, ${connections}: ${rates.join(' / ')}`);
    }
  }
  return rows;
}

async function record(
  raw: RawSearches,
  path: (i: number) => string,
): Promise<readonly (readonly LoadRequest[])[]> {
  const answers: (readonly LoadRequest[])[] = [];
  let next = 0;
  const work = async () => {
    for (let i = next++; i < RECORDED; i = next++) answers[i] = await raw.of(path(i));
  };
  await Promise.all(Array.from({ length: RECORDED_AT_ONCE }, work));
  return answers;
}

async function measureQuery(
  { seconds }: ElasticsearchBenchOptions,
  { url, server, embedded }: Sides,
  paths: Distinct,
  recorded: readonly (readonly LoadRequest[])[],
  connections: number,
): Promise<Omit<Row, 'name' | 'connections'>> {
  let used = 0;
  const varve: Traffic = { base: server.base, request: () => get(paths.get(used++)) };
  const inProcess: Traffic = { base: embedded.base, request: () => get(paths.get(used++)) };
  const sent = recorded.flat();
  let at = 0;
  const direct: Traffic = { base: url, request: () => sent[at++ % sent.length] as LoadRequest };
  const warm = Math.min(1, seconds);
  await measureLoad(varve, connections, warm);
  await measureLoad(direct, connections, warm);
  const before = await measureLoad(direct, connections, seconds / 2);
  const result = await measureLoad(varve, connections, seconds);
  const after = await measureLoad(direct, connections, seconds / 2);
  await measureLoad(inProcess, connections, warm / 2);
  const requests = sent.length / recorded.length;
  return {
    varve: result,
    raw: {
      rate: (before.rate + after.rate) / 2 / requests,
      p50: ((before.p50 + after.p50) / 2) * requests,
    },
    requests,
    embedded: await measureLoad(inProcess, connections, seconds),
  };
}

function report(rows: readonly Row[], { say, connections }: ElasticsearchBenchOptions): void {
  const head = [
    ...['query', 'connections', 'Varve on Elasticsearch req/s', 'p50 ms', 'p99 ms'],
    ...['Elasticsearch directly req/s', 'p50 ms', 'requests', 'ratio', 'overhead p50 ms'],
    ...['Varve embedded req/s', 'failed'],
  ];
  const lines = rows.map(({ name, connections: n, varve, raw, requests, embedded }) => [
    ...[name, n, num(varve.rate, 0), num(varve.p50), num(varve.p99)],
    ...[num(raw.rate, 0), num(raw.p50), num(requests, 1), num(varve.rate / raw.rate)],
    ...[num(varve.p50 - raw.p50), num(embedded.rate, 0), varve.failed + embedded.failed],
  ]);
  say(table(head, lines));
  for (const n of connections) {
    const ratios = rows.filter((row) => row.connections === n).map(({ varve, raw }) => varve.rate / raw.rate);
    const mean = num(geomean(ratios));
    say(
      `${n} connections: geometric mean of the ratios to Elasticsearch ${mean}, smallest ${num(Math.min(...ratios))}`,
    );
  }
}
