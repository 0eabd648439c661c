import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/content-graph.ts';
import { GRAPH_MIGRATIONS } from '../../projections/graph/graph-schema.ts';
import { compareGraphs } from '../../projections/verification/compare-graphs.ts';
import { digestGraph } from '../../projections/verification/digest-graph.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { Database } from '../../shared/sqlite/database.ts';
import { openDatabase } from '../../shared/sqlite/open-database.ts';
import { created, createLog, DEFINITIONS } from './graph-fixture.ts';
import { historyOf, steps } from './graph-history.ts';

const RUNS = Math.ceil(Number(process.env['GRAPH_RUNS'] ?? 30) / 4);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const MINUTE = 60_000;

/** The file of a graph that took the log in batches of such sizes, and was closed and opened after every third. */
function graphOf(events: readonly StoredEvent[], nextSize: () => number): Database {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-compare-'));
  const file = path.join(folder, 'graph.db');
  let graph = openContentGraph(file);
  for (let from = 0, batches = 1; from < events.length; batches++) {
    const size = nextSize();
    graph.replay(events.slice(from, from + size));
    from += size;
    if (batches % 3 > 0) continue;
    graph.close();
    graph = openContentGraph(file);
  }
  graph.close();
  const db = openDatabase(file, { durability: 'normal', migrations: GRAPH_MIGRATIONS });
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return db;
}

function expectAlike(one: Database, other: Database): void {
  expect([...compareGraphs(one, other)]).toEqual([]);
  expect(digestGraph(one)).toEqual(digestGraph(other));
}

it(`finds graphs of one log alike, however it was cut into batches (SEED=${SEED})`, () => {
  const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 7 }));
  const property = fc.property(steps(), sizes, (history, cuts) => {
    const events = createLog().add(...DEFINITIONS, ...historyOf(history));
    expectAlike(
      graphOf(events, () => events.length),
      graphOf(events, () => cuts.next().value ?? 1),
    );
  });
  fc.assert(property, { seed: SEED, numRuns: RUNS });
});

/** A tag each minute, asked for by commands that are remembered for a day. */
function logOfCommands(count: number): StoredEvent[] {
  const tags = Array.from({ length: count }, (_, n) => created('tag', `tag${n}`));
  return createLog()
    .add(...DEFINITIONS, ...tags)
    .map((event, n) => {
      const at = new Date(Date.UTC(2024, 0, 1) + n * MINUTE).toISOString();
      const command = { id: `command ${n}`, request: 'digest' };
      const isCommand = event.type === 'entry-created';
      return { ...event, metadata: { ...event.metadata, at, ...(isCommand ? { command } : {}) } };
    });
}

it('does not ask whether commands that are too old were forgotten yet: that is done now and then', () => {
  const events = logOfCommands(2_500);
  const whole = graphOf(events, () => 5_000);
  const cut = graphOf(events, () => 400);
  const countOf = (db: Database) => db.prepare('SELECT count(*) AS n FROM commands').get()?.['n'];
  expect(countOf(whole)).not.toBe(countOf(cut));
  expectAlike(whole, cut);
});

it('asks for the commands that may come again', () => {
  const events = logOfCommands(10);
  const [whole, lacking] = [graphOf(events, () => 100), graphOf(events, () => 100)];
  lacking.exec('DELETE FROM commands WHERE id = (SELECT max(id) FROM commands)');
  expect([...compareGraphs(whole, lacking)]).toMatchObject([{ table: 'commands', differing: ['missing'] }]);
  expect(digestGraph(whole)).not.toEqual(digestGraph(lacking));
});
