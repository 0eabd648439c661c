import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { foundSums, indexDigests, rebuiltSums } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createKillMoments, rebuildUntilKilled, SEEDED, seedKitchen } from '../support/killed-rebuild.ts';
import { askKitchen, createKitchen, createKitchenTypes, type KitchenQuery } from '../support/kitchen.ts';
import { startKitchenLoad } from '../support/kitchen-load.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { wrongRows } from '../support/wrong-rows.ts';

/**
 * Rebuilds in a row on Elasticsearch, while clients write to the server and read from it and from a `varve api` process. The rebuilding
 * process is killed at random moments. REBUILD_ROUNDS=20 for a full run. Each row of every answer must be in its state at some position
 * between question and answer.
 */
const ROUNDS = Number(process.env['REBUILD_ROUNDS'] ?? 2);
/** Pause of each writer and reader between requests. All together send some fifty a second, so a rebuild progresses on two cores. */
const LOAD_PAUSE_MS = 50;
const LETTERS = [undefined, 'a', 'b', 'c', 'd', 'e'];

const contentTypes = createKitchenTypes();
const data = createDataDirectory();
const space = `kitchen_${process.pid}`;
let url: string;
let server: RunningServer;
let api: RunningServer;

/** Returns the number of documents in the backlog. */
async function backlog(): Promise<number | undefined> {
  return sampleOf(await (await fetch(`${server.url}/metrics`)).text(), 'varve_fanout_backlog_documents');
}

const own = () => ['--data', data, '--read-index', url, '--space', space];
const log = openSqliteEventStore(join(data, 'events.db'), { space, decode: upcast });

const moments = createKillMoments();

/** Makes one generation, and kills the process at most `most` times at random moments. Returns the number of kills. */
async function rebuildKilled(options: readonly string[], most: number): Promise<number> {
  let killed: { readonly id: number; readonly left: number } | undefined;
  for (let kills = 0; ; kills++) {
    const lines = await rebuildUntilKilled([...options, ...own()], moments, kills < most);
    // The server may have finished the rebuild by itself.
    if (lines.at(-1)?.phase === 'done' || lastRebuild().phase === 'done') return kills;
    const indexing = lines.filter(({ phase }) => phase === 'indexing');
    const [first] = indexing;
    // Only the remaining and the edited documents are left to write. If the server has just ended that rebuild, this is another one.
    if (killed !== undefined && first?.id === killed.id)
      expect(first.progress.total).toBeLessThan(killed.left + SEEDED);
    const last = indexing.at(-1);
    if (last !== undefined) killed = { id: last.id, left: last.progress.total - last.progress.done };
  }
}

async function expectAnswersAtRest(): Promise<void> {
  await expect.poll(backlog, { timeout: 120_000 }).toBe(0);
  const kitchen = createKitchen();
  for await (const events of log.readAll(0n)) for (const event of events) kitchen.apply(event);
  const queries = LETTERS.flatMap((letter) =>
    (['draft', 'published'] as const).map(
      (world): KitchenQuery => (letter === undefined ? { world } : { world, cookContains: letter }),
    ),
  );
  for (const query of queries) {
    for (const asked of [server, api])
      expect(await askKitchen(asked.url, query)).toEqual(kitchen.answer(query));
  }
}

function lastRebuild() {
  const store = openGenerationStore(data);
  try {
    return { phase: store.rebuild()?.phase, generations: store.generations() };
  } finally {
    store.close();
  }
}

const skip = takesMinutes('rebuilds on Elasticsearch that are killed');

describe('rebuilds on Elasticsearch', await needsElasticsearch(skip), () => {
  const shared = () => ['--read-index', url, '--space', space];
  beforeAll(async () => {
    url = await elasticsearchUrl();
    await seedKitchen(['--content-types', contentTypes, '--data', data, '--space', space]);
    server = await startServer({ contentTypes, data, arguments: shared() });
    const where = ['--event-store', `sqlite:${join(data, 'events.db')}`, '--assets', join(data, 'assets')];
    api = await startServer({ role: 'api', contentTypes, arguments: [...shared(), ...where] });
  }, 180_000);
  afterAll(async () => {
    await api?.dispose();
    await server?.dispose();
    await log.close();
    if (url !== undefined) await removeIndices(url, space);
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });

  it(`give right rows while ${ROUNDS} of them are killed`, {
    timeout: 300_000 + ROUNDS * 240_000,
  }, async () => {
    const load = startKitchenLoad(server.url, log, {
      ...{ writers: 2, readers: 2, readFrom: [api.url], pauseMs: LOAD_PAUSE_MS },
    });
    let kills = 0;
    for (let round = 0; round < ROUNDS; round++) {
      kills += await rebuildKilled(round % 2 === 0 ? ['--graph'] : [], 2);
      if (round % 3 !== 1) continue;
      for (const _there of ['back', 'forth'])
        expect(await runVarve(['rollback', ...own()])).toMatchObject({ code: 0 });
    }
    const recorded = await load.stop();
    expect(load.failures).toEqual([]);
    expect(kills).toBeGreaterThan(0);
    expect(load.writes()).toBeGreaterThan(ROUNDS * 20);
    expect(recorded.filter(({ answer }) => answer.length > 0).length).toBeGreaterThan(ROUNDS * 20);
    expect((await wrongRows(log, recorded)).slice(0, 3)).toEqual([]);
    console.log(`${kills} kills, ${load.writes()} writes, ${recorded.length} answers checked`);
    await expectAnswersAtRest();
    const live = lastRebuild().generations.at(-1);
    expect(live?.state).toBe('live');
    // A rebuild that is killed after its last step, before it reports `done`, starts again as another generation.
    expect(live?.number).toBeGreaterThan(ROUNDS);
  });

  it('continue after the server was killed while it switched to the new generation', {
    timeout: 300_000 + ROUNDS * 180_000,
  }, async () => {
    const took: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const started = performance.now();
      const before = lastRebuild().generations.length;
      const { child, exited, output } = spawnVarve(['rebuild', '--json', ...own()]);
      await new Promise<void>((resolve) => {
        child.stdout?.on('data', () => output().includes('"phase":"taking over"') && resolve());
        void exited.then(() => resolve());
      });
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 600));
      await server.stop('SIGKILL');
      await exited;
      server = await startServer({ contentTypes, data, arguments: shared() });
      // If the aliases have moved, the rebuild is done. Otherwise the same command continues it.
      if (lastRebuild().phase !== 'done')
        expect(await runVarve(['rebuild', ...own()])).toMatchObject({ code: 0 });
      expect(lastRebuild().phase).toBe('done');
      expect(lastRebuild().generations.length).toBeGreaterThanOrEqual(before);
      await expectAnswersAtRest();
      took.push(((performance.now() - started) / 1000).toFixed(0));
    }
    console.log(`${took.join(', ')} s each`);
    expect((await api.stop()).code).toBe(0);
    expect((await server.stop()).code).toBe(0);
    expect(indexDigests(await foundSums(url, space))).toEqual(indexDigests(await rebuiltSums(data, space)));
  });
});
