import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { Distinct, geomean, machine, num, queries, table } from '../conformance/bench/common.mjs';
import { type LoadResult, measureLoad } from './measure-load.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

/**
 * `npm run bench`: loads the seeded data set through `varve import`, starts a server on it and measures every query of
 * queries.json, each in turn with a bare fastify that sends a fixed 26 KB Buffer. No URL is sent twice; a query's share is its
 * rate divided by that of the bare fastify measured right before and after it.
 */
const root = resolve(import.meta.dirname, '../..');
const options = new Command()
  .option('--seconds <n>', 'seconds per measurement', '3')
  .option('--connections <list>', 'numbers of connections', '1,16')
  .option('--only <regex>', 'queries whose name matches')
  .option('--seed <n>', 'seed of the filled templates', '1')
  .option('--data <dir>', 'keep the loaded data here and use it again')
  .option('--restaurants <n>', 'size of the data set', '20000')
  .option('--reviews <n>', 'size of the data set', '60000')
  .option('--report <file>', 'append the tables to a file')
  .parse()
  .opts<
    Record<'seconds' | 'connections' | 'seed' | 'restaurants' | 'reviews', string> & {
      only?: string;
      data?: string;
      report?: string;
    }
  >();

/** As `npm start` and `npm run varve` give them: room for a start's short-lived rows spares a fifth of its time. */
const NODE_FLAGS = ['--min-semi-space-size=32'];
const seconds = Number(options.seconds);
const connections = options.connections.split(',').map(Number);
const scratch = mkdtempSync(join(tmpdir(), 'varve-bench-'));
const data = options.data ?? join(scratch, 'data');
const contentTypes = join(root, 'test/conformance/schema');

type Row = {
  readonly name: string;
  readonly connections: number;
  readonly varve: LoadResult;
  readonly share: number;
};

try {
  const machineLine = machine();
  say(`${machineLine.cpu}, ${machineLine.cores} cores, node ${machineLine.node}, load ${machineLine.load1}`);
  if (!existsSync(data)) importDataSet();
  const started = performance.now();
  const server = await startProcess(
    [
      ...NODE_FLAGS,
      'services/cli/varve.ts',
      'serve',
      '--content-types',
      contentTypes,
      '--data',
      data,
      '--port',
      '0',
    ],
    root,
    '/_health',
  );
  say(`start-up until /_health answers 204: ${num((performance.now() - started) / 1000)} s`);
  const ceiling = await startProcess(['test/bench/ceiling-server.ts'], root, '/');
  const rows = await measureAll(server, ceiling);
  report(rows);
  say(`memory of the server: ${num(server.residentMiB(), 0)} MiB`);
  await Promise.all([server.stop(), ceiling.stop()]);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function importDataSet(): void {
  const files = join(scratch, 'files');
  const generator = join(root, 'test/conformance/bench/gen-dataset.mjs');
  execFileSync(process.execPath, [
    generator,
    '--out',
    files,
    '--restaurants',
    options.restaurants,
    '--reviews',
    options.reviews,
  ]);
  const paths = readdirSync(files).map((name) => join(files, name));
  const documents = paths.reduce((sum, path) => sum + lineCount(path), 0);
  const started = performance.now();
  const cli = ['services/cli/varve.ts', 'import', '--content-types', contentTypes, '--data', data, ...paths];
  execFileSync(process.execPath, cli, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const elapsed = (performance.now() - started) / 1000;
  say(`import: ${documents} documents in ${num(elapsed)} s = ${num(documents / elapsed, 0)} documents/s`);
}

function lineCount(path: string): number {
  return Number(execFileSync('wc', ['-l', path]).toString().trim().split(' ')[0]);
}

async function measureAll(server: ServerProcess, ceiling: ServerProcess): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const query of queries(join(root, 'test/conformance/bench/queries.json'), options.only)) {
    const paths = new Distinct(query.template, Number(options.seed));
    let used = 0;
    const traffic = { base: server.base, path: () => paths.get(used++) };
    const bare = { base: ceiling.base, path: (i: number) => `/x?${i}` };
    for (const n of connections) {
      await measureLoad(traffic, n, Math.min(1, seconds));
      const before = await measureLoad(bare, n, seconds / 2);
      const varve = await measureLoad(traffic, n, seconds);
      const after = await measureLoad(bare, n, seconds / 2);
      rows.push({
        name: query.name,
        connections: n,
        varve,
        share: (2 * varve.rate) / (before.rate + after.rate),
      });
      console.error(`${query.name}, ${n}: ${num(varve.rate, 0)} req/s, ceiling ${num(after.rate, 0)}`);
    }
    const repeated = paths.repeats(used);
    if (repeated > 0)
      say(`${query.name}: the template has ${paths.t.space} values only, ${repeated} requests repeat one`);
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
