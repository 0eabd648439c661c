import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { loadReadIndex } from '../../projections/graph/projector.ts';
import { makePastGraph } from '../../services/past/make-past-graph.ts';
import { LEAST_APART } from '../../services/past/snapshot-pace.ts';
import { listSnapshots } from '../../services/past/snapshots.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';

/**
 * `node test/bench/past.ts --data DIR POSITION…`: opens pasts of a loaded data directory, first without snapshots, then again with those that
 * the first one has left. Prints the time of the clock, and the processor time, which depends less on what else runs.
 */
const command = new Command()
  .requiredOption('--data <dir>', 'data directory with a log; nothing there is changed')
  .argument('<positions...>', 'positions of the log, the last one first')
  .parse();
const { data } = command.opts<{ data: string }>();
const file = join(data, 'events.db');
const logBytes = statSync(file).size;
const log = openSqliteEventStore(file, { space: 'varve', decode: upcast });
const folder = mkdtempSync(join(tmpdir(), 'varve-past-'));
const snapshots = { folder, generation: 1 };

await open('replay alone', BigInt(command.args[0] ?? 0), Number.POSITIVE_INFINITY);
for (const position of command.args) await open('with snapshots', BigInt(position), LEAST_APART);
const made = listSnapshots(snapshots);
const bytes = made.reduce((sum, each) => sum + each.bytes, 0);
const places = made.map(({ position }) => position).join(' ');
console.log(`${made.length} snapshots at ${places}: ${megabytes(bytes)}, the log: ${megabytes(logBytes)}`);
await log.close();
rmSync(folder, { recursive: true });

async function open(what: string, position: bigint, leastApart: number): Promise<void> {
  const [began, used] = [performance.now(), process.cpuUsage()];
  const graphOf = join(folder, 'graph.db');
  const report = (problem: string, error: unknown) => console.error(problem, error);
  const options = { log, space: 'varve', file: graphOf, position, live: undefined, snapshots, leastApart };
  const more = { mayBeLater: false, logBytes: () => logBytes, types: [], report };
  const { from } = await makePastGraph({ ...options, ...more });
  const replayed = performance.now();
  const graph = openContentGraph(graphOf);
  await loadReadIndex(graph, createEmbeddedIndex({ registry: graph.registry() }));
  const { rows } = graph.size();
  graph.close();
  const { user, system } = process.cpuUsage(used);
  const [graphS, allS] = [(replayed - began) / 1000, (performance.now() - began) / 1000];
  console.log(
    `${what}: position ${position} from ${from}, ${rows} rows: graph ${graphS.toFixed(1)} s, with index ${allS.toFixed(1)} s, processor ${((user + system) / 1e6).toFixed(1)} s, load ${loadavg()[0]?.toFixed(1)}`,
  );
  for (const suffix of ['', '-wal', '-shm', '-lock', '-index'])
    rmSync(`${graphOf}${suffix}`, { force: true });
}

function megabytes(size: number): string {
  return `${(size / 2 ** 20).toFixed(1)} MB`;
}
