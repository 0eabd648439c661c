import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createComparison } from '../../projections/generations/digest.ts';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import { checkFile, graphFile } from '../../projections/graph/store/generation-files.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createKillMoments, rebuildUntilKilled, seedKitchen } from '../support/killed-rebuild.ts';
import { createKitchen, createKitchenTypes } from '../support/kitchen.ts';
import { type Recorded, startKitchenLoad } from '../support/kitchen-load.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/**
 * Rebuilds in a row while clients write and read. The rebuilding process is killed at random moments. REBUILD_ROUNDS=20 for a full
 * run. Every answer must be the expected state at some position of the log between question and answer.
 */
const ROUNDS = Number(process.env['REBUILD_ROUNDS'] ?? 2);
/** Pause of each writer and reader between requests. Without it, the log and the next rebuild grow by a fifth with every rebuild. */
const LOAD_PAUSE_MS = 10;

const contentTypes = createKitchenTypes();
const data = createDataDirectory();
let server: RunningServer | undefined;

beforeAll(async () => {
  await seedKitchen(['--content-types', contentTypes, '--data', data]);
  server = await startServer({ contentTypes, data });
}, 300_000);
afterAll(async () => {
  await server?.dispose();
  for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
});

it(`serves right answers while ${ROUNDS} rebuilds are killed`, {
  ...takesMinutes('rebuilds that are killed'),
  timeout: 300_000 + ROUNDS * 60_000,
}, async () => {
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  const running = server as RunningServer;
  const load = startKitchenLoad(running.url, log, { writers: 2, readers: 2, pauseMs: LOAD_PAUSE_MS });
  const moments = createKillMoments();
  let kills = 0;
  let resumed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const options = round % 2 === 0 ? ['--graph'] : [];
    let killed: Killed | undefined;
    for (;;) {
      const lines = await rebuildUntilKilled([...options, '--data', data], moments, kills <= round * 2);
      const replaying = lines.filter(({ phase }) => phase === 'replaying');
      // It continues from its checkpoint. If the server finished it meanwhile, this is another rebuild.
      if (replaying[0] !== undefined && replaying[0].id === killed?.id)
        expect(replaying[0].progress.done).toBeGreaterThanOrEqual(killed.position);
      if (lines.at(-1)?.phase === 'done') break;
      kills++;
      killed = lastKilled();
      if (killed.position > 0) resumed++;
      // The server may have finished the rebuild by itself.
      if (killed.phase === 'done') break;
    }
  }
  const recorded = await load.stop();
  expect(load.failures).toEqual([]);
  expect(kills).toBeGreaterThan(0);
  expect(load.writes()).toBeGreaterThan(ROUNDS * 20);
  const wrong = await wrongAnswers(log, recorded);
  expect(wrong).toEqual([]);
  expect(recorded.filter(({ answer }) => answer.length > 0).length).toBeGreaterThan(ROUNDS * 20);
  console.log(
    `${kills} kills, ${resumed} of them with something on disk, ${load.writes()} writes, ${recorded.length} answers compared`,
  );
  expect((await running.stop()).code).toBe(0);
  expect(await differencesFromCleanBuild(log)).toEqual({ differences: [], count: 0 });
  const store = openGenerationStore(data);
  expect(store.generations().map(({ state }) => state)).toEqual(['kept', 'live']);
  // A rebuild that is killed after its last step, before it reports `done`, starts again as another generation.
  expect(store.live().number).toBeGreaterThan(ROUNDS);
  store.close();
  await log.close();
});

/** The rebuild that was killed last. */
type Killed = {
  readonly id: number;
  readonly phase: string;
  /** Position of the unfinished graph on disk. Events that were applied only in memory are lost with the process. */
  readonly position: number;
};

function lastKilled(): Killed {
  const store = openGenerationStore(data);
  const rebuild = store.rebuild();
  store.close();
  if (rebuild === undefined) throw new Error('a rebuild that was killed left no trace');
  const { id, phase, generation, scope } = rebuild;
  const file = scope.graph ? graphFile(data, generation) : checkFile(data, generation);
  return { id, phase, position: existsSync(file) ? positionIn(file) : 0 };
}

function positionIn(file: string): number {
  try {
    const graph = readGraphContents(file);
    graph.close();
    return Number(graph.position);
  } catch (error) {
    // The graph has no tables yet.
    if (/no such table/.test((error as Error).message)) return 0;
    throw error;
  }
}

/** Returns the answers that are not the expected state at any position between question and answer. */
async function wrongAnswers(
  log: ReturnType<typeof openSqliteEventStore>,
  recorded: readonly Recorded[],
): Promise<readonly Recorded[]> {
  const kitchen = createKitchen();
  const open = [...recorded].sort((a, b) => Number(a.from - b.from));
  const right = new Set<Recorded>();
  const compare = (position: bigint) => {
    for (const each of open) {
      if (each.from > position) break;
      if (position > each.to || right.has(each)) continue;
      if (JSON.stringify(kitchen.answer(each.query)) === JSON.stringify(each.answer)) right.add(each);
    }
    while (open[0] !== undefined && (open[0].to <= position || right.has(open[0]))) open.shift();
  };
  for await (const events of log.readAll(0n)) {
    for (const event of events) {
      kitchen.apply(event);
      compare(event.position);
    }
  }
  return recorded.filter((each) => !right.has(each));
}

async function differencesFromCleanBuild(log: ReturnType<typeof openSqliteEventStore>) {
  const folder = mkdtempSync(join(tmpdir(), 'varve-clean-'));
  const file = join(folder, 'graph.db');
  const graph = openContentGraph(file);
  await catchUp(log, graph);
  graph.close();
  const store = openGenerationStore(data);
  const [live, clean] = [readGraphContents(graphFile(data, store.live().number)), readGraphContents(file)];
  store.close();
  const comparison = createComparison(10);
  for (const item of live.items({})) comparison.before(item);
  for (const item of clean.items({})) comparison.after(item);
  expect(clean.position).toBe(live.position);
  live.close();
  clean.close();
  rmSync(folder, { recursive: true });
  return comparison.result();
}
