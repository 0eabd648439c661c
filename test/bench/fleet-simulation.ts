import { Command } from 'commander';
import { createRandom } from '../support/naive-random.ts';
import { type FanOut, simulateWrites, type WriteLoad, type WriterRates } from './fleet/simulate-writes.ts';
import { type Capacity, type Demand, sizeFleet } from './fleet/size-fleet.ts';

/**
 * `node test/bench/fleet-simulation.ts`: simulates lag and fan-out in fleets of three sizes, and calculates the size of a fleet for the
 * whole internet. The default rates were measured on a machine with two shared cores (docs/sizing.md names the commands). Every rate is
 * an option: pass those of your own machines.
 */
const options = new Command()
  .option('--bulk-per-second <n>', 'documents that one leader writes', '1500')
  .option('--refresh-ms <n>', 'until they can be searched', '26')
  .option('--writes-per-second <n>', 'edits that one leader acknowledges', '1500')
  .option('--searches-per-core <n>', 'of Elasticsearch', '2500')
  .option('--requests-per-core <n>', 'of an api process', '2000')
  .option('--bytes-per-document <n>', 'in an index', '3000')
  .option('--replay-per-second <n>', 'events into a content graph', '8000')
  .option('--seed <n>', 'of the random edits', '1')
  .parse()
  .opts<Record<string, string>>();

const number = (name: string): number => Number(options[name]);

const MEASURED: WriterRates = {
  bulkPerSecond: number('bulkPerSecond'),
  refreshMs: number('refreshMs'),
  writesPerSecond: number('writesPerSecond'),
};
/** A leader and a cluster on separate machines with sixteen cores. The measuring machine had two cores for both. */
const LARGE: WriterRates = { ...MEASURED, bulkPerSecond: MEASURED.bulkPerSecond * 4 };

/** Most rows are embedded in no document or in a few, some in many. */
const USUAL: FanOut = [
  { share: 0.8, copies: 0 },
  { share: 0.15, copies: 8 },
  { share: 0.045, copies: 150 },
  { share: 0.005, copies: 3_000 },
];
const HOUR = 3_600;

const SCENARIOS: readonly (readonly [string, WriterRates, WriteLoad])[] = [
  ['10^5 documents, an edit a second', MEASURED, load(1, 1e5, [])],
  ['the same, a country of 20,000 renamed', MEASURED, load(1, 1e5, [20_000])],
  ['10^6 documents, 20 edits a second', MEASURED, load(20, 1e6, [100_000])],
  ['10^8 documents, 50 edits a second', LARGE, load(50, 1e8, [2_000_000])],
  ['10^8 documents, 100 edits a second', LARGE, load(100, 1e8, [2_000_000])],
  ['the same, 300 edits a second', LARGE, load(300, 1e8, [])],
];

const DEMANDS: readonly (readonly [string, Demand])[] = [
  ['10^6 documents, 10^3 reads/s', { documents: 1e6, readsPerSecond: 1e3, writesPerSecond: 5 }],
  ['10^7 documents, 10^4 reads/s', { documents: 1e7, readsPerSecond: 1e4, writesPerSecond: 20 }],
  ['10^8 documents, 10^5 reads/s', { documents: 1e8, readsPerSecond: 1e5, writesPerSecond: 100 }],
];

const CAPACITY: Capacity = {
  searchesPerCore: number('searchesPerCore'),
  requestsPerCore: number('requestsPerCore'),
  searchesPerRequest: 1.5,
  bytesPerDocument: number('bytesPerDocument'),
  replayPerSecond: number('replayPerSecond'),
  coresPerDataNode: 16,
  memoryPerDataNode: 64 * 2 ** 30,
  coresPerApi: 4,
};

console.log('Lag and fan-out over an hour; a burst comes after ten minutes\n');
console.log(row(['', 'visible p50', 'p99', 'backlog', 'oldest copy', 'drained after', 'coalesced', 'left']));
for (const [name, rates, each] of SCENARIOS) {
  const outcome = simulateWrites(rates, each, createRandom(number('seed')).next);
  const { atRestAfter } = outcome;
  console.log(
    row([
      name,
      `${outcome.visibleP50.toFixed(0)} ms`,
      `${outcome.visibleP99.toFixed(0)} ms`,
      outcome.largestBacklog.toLocaleString('en'),
      `${outcome.oldestSeconds.toFixed(1)} s`,
      atRestAfter === undefined ? '-' : `${atRestAfter.toFixed(0)} s`,
      outcome.coalesced.toLocaleString('en'),
      outcome.left.toLocaleString('en'),
    ]),
  );
}

console.log('\nHow large: data nodes of 16 cores and 64 GB, api processes of 4 cores, both busy to 60 %\n');
console.log(row(['', 'index', 'shards', 'copies', 'data nodes', 'bound by', 'api', 'replay']));
for (const [name, demand] of DEMANDS) {
  const size = sizeFleet(demand, CAPACITY);
  console.log(
    row([
      name,
      `${(size.indexBytes / 2 ** 30).toFixed(0)} GB`,
      String(size.shards),
      String(size.copies),
      String(size.dataNodes),
      size.boundBy,
      String(size.apiProcesses),
      `${size.replayHours.toFixed(1)} h`,
    ]),
  );
}

function load(editsPerSecond: number, embedding: number, bursts: readonly number[]): WriteLoad {
  return {
    editsPerSecond,
    fanOut: USUAL,
    bursts: bursts.map((copies) => ({ atSecond: 600, copies })),
    embedding,
    seconds: HOUR,
  };
}

function row([name = '', ...cells]: readonly string[]): string {
  return name.padEnd(40) + cells.map((cell) => cell.padStart(14)).join('');
}
