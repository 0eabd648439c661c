import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { Distinct, num, queries, table } from '../conformance/bench/common.mjs';
import { importDataSet, ROOT } from './bench-data.ts';
import { get, type Traffic } from './measure-load.ts';
import { pairedMedian } from './paired-ratios.ts';
import { type ServerProcess, startProcess } from './server-process.ts';
import { startVarve } from './start-varve.ts';
import { hasWrk, measureByWrk } from './wrk.ts';

/**
 * `node test/bench/delivery.ts`: measures answers that caches request repeatedly, in pairs with another kind of answer. A remembered page
 * is compared with a bare fastify that sends the same bytes, and a 304 with the 200 of the same page. Answers with tags are compared with
 * answers without. Needs wrk.
 */
const options = new Command()
  .option('--starts <n>', 'starts of both servers: two servers of one program differ by some percent', '3')
  .option('--pairs <n>', 'pairs of measurements after each start', '3')
  .option('--seconds <n>', 'seconds per measurement', '2')
  .option('--connections <n>', 'connections', '16')
  .option('--only <regex>', 'comparisons whose name matches')
  .option('--data <dir>', 'keep the loaded data here and use it again')
  .option('--restaurants <n>', 'size of the data set', '20000')
  .option('--reviews <n>', 'size of the data set', '60000')
  .option('--checkout <dir>', 'the checkout that serves', ROOT)
  .option('--node-option <option>', 'option for Node in the servers', '--no-warnings')
  .parse()
  .opts<
    Record<
      | 'starts'
      | 'pairs'
      | 'seconds'
      | 'connections'
      | 'data'
      | 'restaurants'
      | 'reviews'
      | 'checkout'
      | 'nodeOption',
      string
    > & { only?: string }
  >();

/** A page of some 24 KB. */
const PAGE = '/api/restaurants?pagination[pageSize]=36&sort=name';
const DEEP =
  '/api/restaurants?filters[chef][active]=true&populate[chef][populate]=country&populate[tags]=true&populate[category]=true';
/** Queries whose requests are hardly ever repeated. Drafts are not for shared caches, so they have no tags. */
const NEVER_REPEATED = queries(join(ROOT, 'test/conformance/bench/queries.json')).filter(
  ({ template }) => !template.includes('status=draft'),
);

type Side = {
  readonly server: ServerProcess;
  readonly request: Traffic['request'];
  readonly headers: Headers;
};
type Headers = NonNullable<Traffic['headers']>;
/** The rate of `a` divided by that of `b` must be at least `least`. */
type Comparison = {
  readonly name: string;
  readonly least: number;
  readonly sides: () => Promise<{ readonly a: Side; readonly b: Side }>;
};

if (!hasWrk()) throw new Error('wrk is not installed: apt-get install wrk');
process.env['NODE_OPTIONS'] = options.nodeOption;
const scratch = mkdtempSync(join(tmpdir(), 'varve-delivery-'));
const data = options.data ?? join(scratch, 'data');
const running: ServerProcess[] = [];

const COMPARISONS: readonly Comparison[] = [
  { name: 'remembered page / bare fastify', least: 0.85, sides: rememberedPage },
  { name: '304 / 200, deep, nothing remembered', least: 3, sides: () => unchangedPage(DEEP, '0') },
  { name: '304 / 200, deep, remembered', least: 1, sides: () => unchangedPage(DEEP, String(2 ** 26)) },
  { name: '304 / 200, page, remembered', least: 1, sides: () => unchangedPage(PAGE, String(2 ** 26)) },
  { name: 'tags / no tags, one page', least: 0.9, sides: () => taggedPages(PAGE) },
  ...NEVER_REPEATED.map(({ name, template }) => ({
    name: `tags / no tags, ${name}`,
    least: 0.9,
    sides: () => taggedPages(template),
  })),
];

try {
  if (!existsSync(data)) importDataSet(data, scratch, options, { checkout: options.checkout });
  const rows = [];
  for (const comparison of COMPARISONS)
    if (new RegExp(options.only ?? '').test(comparison.name)) rows.push(await compare(comparison));
  console.log(
    table(['rate of / rate of', 'at least', 'ratio', 'interval', 'by CPU', 'us', 'us', 'failed'], rows),
  );
} finally {
  await Promise.all(running.map((server) => server.stop()));
  rmSync(scratch, { recursive: true, force: true });
}

async function compare({ name, least, sides }: Comparison): Promise<readonly (string | number)[]> {
  const pairs: MeasuredPair[] = [];
  for (let start = 0; start < Number(options.starts); start++) pairs.push(...(await measurePairs(sides)));
  const rate = pairedMedian(pairs.map((pair) => pair.a.rate / pair.b.rate));
  const cpu = pairedMedian(pairs.map((pair) => pair.b.micros / pair.a.micros));
  const micros = (side: 'a' | 'b') => num(pairedMedian(pairs.map((pair) => pair[side].micros)).median, 1);
  return [
    ...[name, least, num(rate.median, 3), `${num(rate.low, 3)} to ${num(rate.high, 3)}`],
    ...[num(cpu.median, 3), micros('a'), micros('b')],
    pairs.reduce((sum, pair) => sum + pair.a.failed + pair.b.failed, 0),
  ];
}

async function measurePairs(sides: Comparison['sides']): Promise<readonly MeasuredPair[]> {
  const { a, b } = await sides();
  const pairs: MeasuredPair[] = [];
  for (let pair = -1; pair < Number(options.pairs); pair++) {
    // Both take turns in being first.
    const early = pair % 2 === 0 ? await measure(a) : undefined;
    const other = await measure(b);
    const one = early ?? (await measure(a));
    // The first pair only warms up both servers.
    if (pair >= 0) pairs.push({ a: one, b: other });
  }
  await Promise.all(running.splice(0).map((server) => server.stop()));
  return pairs;
}

type MeasuredPair = { readonly a: Measured; readonly b: Measured };
/** `micros`: microseconds of a core per answer, of all processes of the server. */
type Measured = { readonly rate: number; readonly micros: number; readonly failed: number };

async function measure({ server, request, headers }: Side): Promise<Measured> {
  const before = server.cpuSeconds();
  const traffic = { base: server.base, request, headers };
  const { rate, requests, failed } = await measureByWrk(
    traffic,
    Number(options.connections),
    Number(options.seconds),
  );
  return { rate, failed, micros: ((server.cpuSeconds() - before) / requests) * 1e6 };
}

async function varve(...more: readonly string[]): Promise<ServerProcess> {
  const server = await startVarve({ data, checkout: options.checkout, more, until: '/health/ready' });
  running.push(server);
  return server;
}

async function rememberedPage() {
  const server = await varve();
  const body = join(scratch, 'body');
  writeFileSync(body, Buffer.from(await (await fetch(server.base + PAGE)).arrayBuffer()));
  const bare = await startProcess(['test/bench/ceiling-server.ts', body], ROOT, '/');
  running.push(bare);
  const request = () => get(PAGE);
  return { a: { server, request, headers: {} }, b: { server: bare, request, headers: {} } };
}

async function unchangedPage(path: string, bytes: string) {
  const server = await varve('--answer-cache-bytes', bytes);
  const etag = (await fetch(server.base + path)).headers.get('etag') ?? '';
  const request = () => get(path);
  return {
    a: { server, request, headers: { 'If-None-Match': etag } },
    b: { server, request, headers: {} },
  };
}

async function taggedPages(template: string) {
  const side = async (server: ServerProcess): Promise<Side> => {
    const paths = new Distinct(template, 1);
    let used = 0;
    return { server, request: () => get(paths.get(used++)), headers: {} };
  };
  const copy = join(scratch, 'copy');
  // No server has the data directory open now.
  if (!existsSync(copy)) cpSync(data, copy, { recursive: true });
  const plain = await startVarve({ data: copy, checkout: options.checkout, until: '/health/ready' });
  running.push(plain);
  return { a: await side(await varve('--cache-tags', 'varnish')), b: await side(plain) };
}
