import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { defined } from '../../shared/defined.ts';
import { Distinct, geomean, machine, num, queries, table } from '../conformance/bench/common.mjs';
import { CONTENT_TYPES, importDataSet, ROOT } from './bench-data.ts';
import { benchElasticsearch, SPACE } from './bench-elasticsearch.ts';
import { compareCheckouts } from './compare-checkouts.ts';
import { get, type LoadResult, measureLoad } from './measure-load.ts';
import { type ServerProcess, startProcess } from './server-process.ts';
import { startVarve } from './start-varve.ts';
import { createTypedWords, type NamedLoad, wordLoads, writeTexts } from './typed-words.ts';
import { hasWrk, measureByWrk } from './wrk.ts';

/**
 * `npm run bench`: loads the seeded data set through `varve import`, starts a server on it and measures every query of queries.json.
 * Each measurement alternates with one of a bare fastify that sends a fixed 26 KB Buffer. The server remembers no answers. A query's
 * share is its rate divided by that of the bare fastify measured right before and after it.
 *
 * `npm run bench -- --read-index elasticsearch`: measures the same queries on Elasticsearch. It compares them with the embedded index
 * and with Elasticsearch that gets Varve's requests directly (bench-elasticsearch.ts). With `--collections DIR`, texts are sentences of
 * Cranfield and CISI, and searches by words are measured instead: alone, with facets, and of InstantSearch.
 *
 * `npm run bench -- --against <checkout>`: compares this checkout with another, in pairs of measurements (compare-checkouts.ts).
 * `npm run bench -- --scale <times>`: compares this checkout on so many times the documents with itself on the usual documents.
 */
const options = new Command()
  .option('--seconds <n>', 'seconds per measurement (3; with --against 1)')
  .option('--against <checkout>', 'compare with another checkout, whose dependencies are installed')
  .option('--scale <times>', 'compare so many times the documents with the usual ones')
  .option('--pairs <n>', 'pairs of measurements per query, with --against or --scale', '9')
  .addOption(
    new Option(
      '--load <generator>',
      'what sends the requests (wrk if it is installed, else autocannon)',
    ).choices(['wrk', 'autocannon']),
  )
  .option('--workers <n>', 'workers of this checkout, with --against; the other one has one')
  .option('--no-appends', 'measure reads only, with --against')
  .option('--check', 'exit with 1 when the median ratio is below 0.97, of appends 0.95, with --against')
  .option('--rounds <n>', 'rounds of measurements in turns, with --read-index elasticsearch', '5')
  .option('--warm-up <seconds>', 'load before the first measurement, with --read-index elasticsearch', '30')
  .option('--connections <list>', 'numbers of connections', '1,16')
  .option('--only <regex>', 'queries whose name matches')
  .option('--seed <n>', 'seed of the filled templates', '1')
  .option('--data <dir>', 'keep the loaded data here and use it again')
  .option('--collections <dir>', 'measure searches by words, with --read-index elasticsearch')
  .option('--restaurants <n>', 'size of the data set', '20000')
  .option('--reviews <n>', 'size of the data set', '60000')
  .option('--report <file>', 'append the tables to a file')
  .addOption(new Option('--read-index <engine>').choices(['embedded', 'elasticsearch']).default('embedded'))
  .option('--elasticsearch <url>', 'a running node (or VARVE_TEST_ELASTICSEARCH); else one is started')
  .parse()
  .opts<
    Record<'rounds' | 'pairs' | 'warmUp' | 'connections' | 'seed' | 'restaurants' | 'reviews', string> & {
      seconds?: string;
      against?: string;
      scale?: string;
      appends: boolean;
      check?: boolean;
      load?: 'wrk' | 'autocannon';
      only?: string;
      workers?: string;
      collections?: string;
      data?: string;
      report?: string;
      elasticsearch?: string;
      readIndex: 'embedded' | 'elasticsearch';
    }
  >();

const against = options.against ?? (options.scale === undefined ? undefined : ROOT);
if (against !== undefined && options.readIndex === 'elasticsearch')
  throw new Error('`--against` and `--scale` measure the embedded index: omit `--read-index elasticsearch`');
const seconds = Number(options.seconds ?? (against === undefined ? 3 : 1));
const generator = options.load ?? (hasWrk() ? 'wrk' : 'autocannon');
const measure = generator === 'wrk' ? measureByWrk : measureLoad;
const connections = options.connections.split(',').map(Number);
const scratch = mkdtempSync(join(tmpdir(), 'varve-bench-'));
const QUERIES = join(ROOT, 'test/conformance/bench/queries.json');
const data = options.data ?? join(scratch, 'data');
const words = options.collections === undefined ? undefined : createTypedWords(options.collections);

type Row = {
  readonly name: string;
  readonly connections: number;
  readonly varve: LoadResult;
  readonly share: number;
};

try {
  const machineLine = machine();
  say(`${machineLine.cpu}, ${machineLine.cores} cores, node ${machineLine.node}, load ${machineLine.load1}`);
  if (against === undefined && !existsSync(data)) {
    const { documents, seconds: elapsed } = importDataSet(data, scratch, options, {
      ...defined({ rewrite: words && ((folder: string) => writeTexts(folder, words)) }),
      settings: options.readIndex === 'elasticsearch' ? ['--space', SPACE] : [],
    });
    const rate = num(documents / elapsed, 0);
    say(`import: ${documents} documents in ${num(elapsed)} s = ${rate} documents/s`);
  }
  if (against !== undefined) await benchAgainst(against);
  else if (options.readIndex === 'elasticsearch') await benchOnElasticsearch();
  else await benchEmbedded();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function benchAgainst(against: string): Promise<void> {
  say(`load by ${generator}`);
  const { holds } = await compareCheckouts({
    ...{ against, data, scratch, seconds, say, size: options, appends: options.appends },
    measureLoad: measure,
    pairs: Number(options.pairs),
    times: options.scale === undefined ? undefined : Number(options.scale),
    workers: options.workers === undefined ? undefined : Number(options.workers),
    connections: Math.max(...connections),
    seed: Number(options.seed),
    queries: queries(QUERIES, options.only),
  });
  if (!holds && options.check === true) process.exitCode = 1;
}

async function benchOnElasticsearch(): Promise<void> {
  const url = options.elasticsearch ?? process.env['VARVE_TEST_ELASTICSEARCH'];
  const { only } = options;
  const [seed, rounds] = [Number(options.seed), Number(options.rounds)];
  const warmUp = Number(options.warmUp);
  await benchElasticsearch({
    ...{
      url,
      data,
      scratch,
      seconds,
      rounds,
      warmUp,
      connections,
      seed,
      say,
      keep: options.data !== undefined,
    },
    loads: words === undefined ? queries(QUERIES, only).map(templateLoad) : wordLoads(words, only),
    ...(words === undefined ? {} : { contentTypes: CONTENT_TYPES }),
  });
}

/** Fills a query's template with random values, so that URLs do not repeat. */
function templateLoad({ name, template }: { readonly name: string; readonly template: string }): NamedLoad {
  return {
    name,
    source: (seed) => {
      const paths = new Distinct(template, seed);
      return { get: (i) => get(paths.get(i)), repeats: (used) => paths.repeats(used) };
    },
  };
}

async function benchEmbedded(): Promise<void> {
  say(`load by ${generator}`);
  const started = performance.now();
  // wrk sends more requests than some templates have values, so a cache of answers would be measured.
  const server = await startVarve({ data, more: ['--answer-cache-bytes', '0'] });
  say(`start-up until /_health answers 204: ${num((performance.now() - started) / 1000)} s`);
  const ceiling = await startProcess(['test/bench/ceiling-server.ts'], ROOT, '/');
  const rows = await measureAll(server, ceiling);
  report(rows);
  say(`memory of the server: ${num(server.residentMiB(), 0)} MiB`);
  await Promise.all([server.stop(), ceiling.stop()]);
}

async function measureAll(server: ServerProcess, ceiling: ServerProcess): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const half = Math.ceil(seconds / 2);
  for (const query of queries(QUERIES, options.only)) {
    const paths = new Distinct(query.template, Number(options.seed));
    let used = 0;
    const traffic = { base: server.base, request: () => get(paths.get(used++)) };
    const bare = { base: ceiling.base, request: (i: number) => get(`/x?${i}`) };
    for (const n of connections) {
      await measure(traffic, n, 1);
      const before = await measure(bare, n, half);
      const varve = await measure(traffic, n, seconds);
      const after = await measure(bare, n, half);
      rows.push({
        name: query.name,
        connections: n,
        varve,
        share: (2 * varve.rate) / (before.rate + after.rate),
      });
      console.error(`${query.name}, ${n}: ${num(varve.rate, 0)} req/s, ceiling ${num(after.rate, 0)}`);
    }
  }
  return rows;
}

function report(rows: readonly Row[]): void {
  const head = ['query', 'connections', 'req/s', 'p50 ms', 'p99 ms', 'share of bare fastify', 'failed'];
  const line = ({ name, connections: n, varve, share }: Row) => [
    name,
    n,
    num(varve.rate, 0),
    num(varve.p50),
    num(varve.p99),
    `${num(share * 100, 1)} %`,
    varve.failed,
  ];
  say(table(head, rows.map(line)));
  for (const n of connections) {
    const shares = rows.filter((row) => row.connections === n).map((row) => row.share);
    const mean = `${num(geomean(shares) * 100, 1)} %`;
    say(
      `${n} connections: geometric mean of the shares ${mean}, smallest ${num(Math.min(...shares) * 100, 1)} %`,
    );
  }
}

function say(line: string): void {
  console.log(line);
  if (options.report !== undefined) appendFileSync(options.report, `${line}\n`);
}
