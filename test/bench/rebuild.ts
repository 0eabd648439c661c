import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';

/**
 * `node test/bench/rebuild.ts --data DIR`: measures how many events a second a replay applies to a new graph file. It reads the log of
 * a loaded data directory and writes the file in another thread, as `varve rebuild --graph` does. Rounds that only read the log
 * alternate with it for comparison.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory with a log; nothing there is changed')
  .option('--rounds <n>', 'times each is measured', '3')
  .option('--batch <n>', 'events of a transaction', '1000')
  .parse()
  .opts<{ data: string; rounds: string; batch: string }>();

const log = openSqliteEventStore(join(options.data, 'events.db'), { space: 'varve', decode: upcast });
for (let round = 1; round <= Number(options.rounds); round++) {
  const read = await timed(readAll);
  const replayed = await timed(replayAll);
  console.log(`reading the log: ${read}`);
  console.log(`replaying it into a new graph: ${replayed}`);
}
await log.close();

async function timed(work: () => Promise<number>): Promise<string> {
  const started = performance.now();
  const events = await work();
  const seconds = (performance.now() - started) / 1000;
  return `${events} events in ${seconds.toFixed(2)} s, ${Math.round(events / seconds)}/s`;
}

async function readAll(): Promise<number> {
  let count = 0;
  for await (const events of log.readAll(0n, { batchSize: Number(options.batch) })) count += events.length;
  return count;
}

async function replayAll(): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'varve-rebuild-'));
  const graph = openContentGraph(join(scratch, 'graph.db'), { building: true });
  let count = 0;
  await catchUp(log, graph, {
    batchSize: Number(options.batch),
    async onBatch(events) {
      count += events;
      return 'continue';
    },
  });
  graph.close();
  rmSync(scratch, { recursive: true });
  return count;
}
