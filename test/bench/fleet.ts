import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { Distinct, geomean, machine, num, queries, table } from '../conformance/bench/common.mjs';
import { get, measureLoad } from './measure-load.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

/**
 * `node test/bench/fleet.ts`: measures reads of one, two and four `varve serve` on one log. The total number of connections is the same
 * and they are spread evenly. This process sends the load from the same machine. Therefore it also prints the CPU time of a read. If it
 * is the same for each size, reads scale with the processes until all cores are busy.
 */
const root = resolve(import.meta.dirname, '../..');
const options = new Command()
  .option('--seconds <n>', 'seconds per measurement', '3')
  .option('--connections <n>', 'of all processes together', '16')
  .option('--sizes <list>', 'numbers of processes', '1,2,4')
  .option('--only <regex>', 'queries whose name matches')
  .option('--restaurants <n>', 'size of the data set', '20000')
  .option('--reviews <n>', 'size of the data set', '60000')
  .option('--data <dir>', 'keep the loaded data here and use it again')
  .parse()
  .opts<
    Record<'seconds' | 'connections' | 'sizes' | 'restaurants' | 'reviews', string> & {
      only?: string;
      data?: string;
    }
  >();

const scratch = mkdtempSync(join(tmpdir(), 'varve-fleet-bench-'));
const folder = options.data ?? scratch;
const eventStore = `sqlite:${join(folder, 'events.db')}`;
const contentTypes = join(root, 'test/conformance/schema');
const sizes = options.sizes.split(',').map(Number);
const connections = Number(options.connections);

type Row = { readonly query: string; readonly rates: readonly number[]; readonly work: readonly number[] };

try {
  const { cpu, cores, node } = machine();
  console.log(`${cpu}, ${cores} cores, node ${node}`);
  if (!existsSync(join(folder, 'events.db'))) importDataSet();
  const fleet = await startFleet(Math.max(...sizes));
  const rows: Row[] = [];
  for (const query of queries(join(root, 'test/conformance/bench/queries.json'), options.only)) {
    rows.push(await measureQuery(query, fleet));
  }
  report(rows);
  await Promise.all(fleet.map((server) => server.stop()));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function importDataSet(): void {
  const files = join(scratch, 'files');
  const generator = join(root, 'test/conformance/bench/gen-dataset.mjs');
  const { restaurants, reviews } = options;
  const sized = ['--out', files, '--restaurants', restaurants, '--reviews', reviews];
  execFileSync(process.execPath, [generator, ...sized]);
  const paths = readdirSync(files).map((name) => join(files, name));
  const cli = [
    'services/cli/varve.ts',
    'import',
    '--content-types',
    contentTypes,
    '--event-store',
    eventStore,
  ];
  const args = [...cli, '--data', join(folder, 'p1'), ...paths];
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Starts the servers, each with its own graph. The graphs are copies of the first one's, so no server has to catch up. */
async function startFleet(size: number): Promise<readonly ServerProcess[]> {
  const servers: ServerProcess[] = [];
  for (let n = 1; n <= size; n++) {
    const data = join(folder, `p${n}`);
    if (!existsSync(data)) cpSync(join(folder, 'p1'), data, { recursive: true });
  }
  for (let n = 1; n <= size; n++) {
    const cli = [
      '--min-semi-space-size=32',
      'services/cli/varve.ts',
      'serve',
      '--content-types',
      contentTypes,
    ];
    const args = [...cli, '--event-store', eventStore, '--data', join(folder, `p${n}`), '--port', '0'];
    servers.push(await startProcess(args, root, '/_health'));
  }
  return servers;
}

async function measureQuery(
  { name, template }: { readonly name: string; readonly template: string },
  fleet: readonly ServerProcess[],
): Promise<Row> {
  const paths = new Distinct(template, 1);
  let used = 0;
  const load = async (size: number, seconds: number) => {
    const results = await Promise.all(
      fleet
        .slice(0, size)
        .map(({ base }) =>
          measureLoad({ base, request: () => get(paths.get(used++)) }, connections / size, seconds),
        ),
    );
    const failed = results.reduce((sum, result) => sum + result.failed, 0);
    if (failed > 0) throw new Error(`${name}: ${failed} reads failed`);
    return {
      rate: results.reduce((sum, { rate }) => sum + rate, 0),
      reads: results.reduce((sum, { requests }) => sum + requests, 0),
    };
  };
  const rates: number[] = [];
  const work: number[] = [];
  for (const size of sizes) {
    await load(size, 1);
    const before = cpuSeconds(fleet, size);
    const { rate, reads } = await load(size, Number(options.seconds));
    rates.push(rate);
    work.push(((cpuSeconds(fleet, size) - before) / reads) * 1_000_000);
  }
  console.error(`${name}: ${rates.map((rate) => num(rate, 0)).join(', ')} req/s`);
  return { query: name, rates, work };
}

function cpuSeconds(fleet: readonly ServerProcess[], size: number): number {
  return fleet.slice(0, size).reduce((sum, server) => sum + server.cpuSeconds(), 0);
}

function report(rows: readonly Row[]): void {
  const head = ['query', ...sizes.map((size) => `${size} × req/s`), ...sizes.map((size) => `${size} × µs`)];
  const line = ({ query, rates, work }: Row) => [
    query,
    ...rates.map((rate) => num(rate, 0)),
    ...work.map((each) => num(each, 0)),
  ];
  console.log(table(head, rows.map(line)));
  for (const [n, size] of sizes.entries()) {
    const gain = geomean(rows.map(({ rates }) => (rates[n] ?? 0) / (rates[0] ?? 1)));
    const cost = geomean(rows.map(({ work }) => (work[n] ?? 0) / (work[0] ?? 1)));
    console.log(
      `${size} processes: ${num(gain)} times the reads of one, ${num(cost)} times the work of a read`,
    );
  }
}
