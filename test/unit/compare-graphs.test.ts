import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { compareGraphs, digestGraph } from '../../projections/generations/compare-graphs.ts';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { GRAPH_MIGRATIONS } from '../../projections/graph/store/graph-schema.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { Json } from '../../shared/json.ts';
import { openDatabase } from '../../shared/sqlite/open-database.ts';
import { count } from '../support/takes-minutes.ts';
import { created, createLog, DEFINITIONS, definition, SCHEMAS, uid } from './graph-fixture.ts';
import { historyOf, steps } from './graph-history.ts';

const RUNS = Math.ceil(Number(process.env['GRAPH_RUNS'] ?? count(60, 30)) / 4);
const SEED = Number(process.env['SEED'] ?? 14);
const MINUTE = 60_000;

/** Applies a log to a graph in batches of these sizes, and opens the graph again after every third batch. Returns its file. */
function graphOf(events: readonly StoredEvent[], nextSize: () => number): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-compare-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
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
  return file;
}

/** Runs a statement on a graph's file and returns its first value. */
function ask(file: string, sql: string): unknown {
  const db = openDatabase(file, { durability: 'normal', migrations: GRAPH_MIGRATIONS });
  const row = db.prepare(sql).get();
  db.close();
  return Object.values(row ?? {})[0];
}

const METER = { worked: async () => {} };

async function compare(one: string, other: string) {
  const [before, after] = [readGraphContents(one), readGraphContents(other)];
  const found = await compareGraphs({ before, after, scope: {} }, METER, 10);
  const isSameDigest = JSON.stringify([...digestGraph(before)]) === JSON.stringify([...digestGraph(after)]);
  expect(isSameDigest).toBe(found.count === 0);
  before.close();
  after.close();
  return found;
}

async function expectAlike(one: string, other: string): Promise<void> {
  expect(await compare(one, other)).toEqual({ differences: [], count: 0 });
}

const withAttributes = (name: string, more: { readonly [attribute: string]: Json }): VarveEvent => {
  const schema = SCHEMAS[name] as { readonly attributes: { readonly [attribute: string]: Json } };
  return definition(name, { ...schema, attributes: { ...schema.attributes, ...more } } as Json);
};
const relationTo = (name: string) => ({ type: 'relation', relation: 'manyToOne', target: uid(name) });

/** Definitions of a later start: a new type, and relations to it and from it. */
const NEXT_DEFINITIONS: readonly VarveEvent[] = [
  withAttributes('tag', { award: relationTo('award'), chef: relationTo('chef') }),
  withAttributes('review', { award: relationTo('award'), code: { type: 'string', unique: true } }),
  definition('award', {
    kind: 'collectionType',
    info: { singularName: 'award', pluralName: 'awards', displayName: 'award' },
    options: { draftAndPublish: true },
    attributes: { name: { type: 'string', unique: true }, tag: relationTo('tag') },
  }),
];

const inAnyOrder = (definitions: readonly VarveEvent[]) =>
  fc.shuffledSubarray([...definitions], { minLength: definitions.length });

it(`finds no difference between graphs of one log, for any batches and any order of definitions (SEED=${SEED})`, async () => {
  const property = fc.asyncProperty(
    ...[inAnyOrder(DEFINITIONS), inAnyOrder(NEXT_DEFINITIONS), steps(), fc.nat(60)],
    fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
    async (definitions, next, history, at, cuts) => {
      const documents = historyOf(history);
      const award = created('award', 'award0', { values: { name: 'x' } });
      const [earlier, later] = [documents.slice(0, at), documents.slice(at)];
      const events = createLog().add(...definitions, ...earlier, ...next, award, ...later);
      await expectAlike(
        graphOf(events, () => events.length),
        graphOf(events, () => cuts.next().value ?? 1),
      );
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
});

/** Returns a log with a tag each minute. The commands that created them are remembered for a day. */
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

it('ignores whether old commands were forgotten yet, which happens from time to time', async () => {
  const events = logOfCommands(2_500);
  const whole = graphOf(events, () => 5_000);
  const cut = graphOf(events, () => 400);
  const countOf = (file: string) => ask(file, 'SELECT count(*) AS n FROM commands');
  expect(countOf(whole)).not.toBe(countOf(cut));
  await expectAlike(whole, cut);
});

it('does not compare tables that are equal in both files', async () => {
  const events = logOfCommands(10);
  const one = readGraphContents(graphOf(events, () => 100));
  const other = readGraphContents(graphOf(events, () => 3));
  const equal = await one.equalTables(other, METER);
  expect([...one.items({})].length).toBeGreaterThan(30);
  expect([...one.items({}, equal)]).toEqual([]);
  one.close();
  other.close();
});

it('treats no tables as equal if another position was written to the file in the meantime', async () => {
  const events = logOfCommands(10);
  const file = graphOf(events.slice(0, -1), () => 100);
  const [one, other] = [readGraphContents(graphOf(events, () => 100)), readGraphContents(file)];
  const later = openContentGraph(file);
  later.replay(events.slice(-1));
  later.close();
  expect(await one.equalTables(other, METER)).toEqual(new Set());
  expect((await compareGraphs({ before: one, after: other, scope: {} }, METER, 10)).count).toBeGreaterThan(0);
  one.close();
  other.close();
});

const DAMAGES: readonly (readonly [sql: string, group: string])[] = [
  ['DELETE FROM commands WHERE id = (SELECT max(id) FROM commands)', 'graph: commands'],
  ["INSERT OR REPLACE INTO meta VALUES ('epoch', 7)", 'graph: lease'],
  ['UPDATE definitions SET position = 99 WHERE position = 1', 'graph: content types'],
  ["UPDATE sequences SET value = value + 1 WHERE name = 'entry'", 'graph: sequences'],
  ['UPDATE entries SET revision = 9 WHERE id = 3', 'graph: entries'],
  ['DELETE FROM ids WHERE id = 3', 'graph: ids'],
  ['UPDATE ids SET key = key + 4 WHERE id = 3', 'graph: ids'],
  [
    'UPDATE rows SET position = position + 1 WHERE key = (SELECT max(key) FROM rows)',
    'rows of api::tag.tag, live',
  ],
];

it.each(DAMAGES)('finds the difference after %s', async (damage, group) => {
  const events = logOfCommands(10);
  const [whole, damaged] = [graphOf(events, () => 100), graphOf(events, () => 100)];
  ask(damaged, damage);
  expect((await compare(whole, damaged)).differences).toMatchObject([{ group }]);
});

it.each([
  ['UPDATE journal SET event = 2 WHERE position = (SELECT max(position) FROM journal)'],
  ['DELETE FROM journal WHERE position = (SELECT min(position) FROM journal)'],
  ['UPDATE entries SET unpublished = \'["x"]\' WHERE id = 3'],
])('compares journals, unless an earlier projector made a graph: %s', async (damage) => {
  const events = logOfCommands(10);
  const [whole, damaged] = [graphOf(events, () => 100), graphOf(events, () => 100)];
  const found = async () => {
    const [before, after] = [readGraphContents(whole), readGraphContents(damaged)];
    const { differences } = await compareGraphs({ before, after, scope: {} }, METER, 10);
    before.close();
    after.close();
    return differences;
  };
  ask(damaged, damage);
  expect(await found()).toMatchObject([{ group: 'graph: journal' }]);
  ask(whole, "UPDATE meta SET value = 2 WHERE name = 'projector'");
  expect(await found()).toEqual([]);
});

const CHANGES = [
  'UPDATE journal SET links_after = 1 WHERE position = (SELECT max(position) FROM journal)',
  "UPDATE names SET name = name || 'x' WHERE id = 1",
  'UPDATE entries SET shared_edited = shared_edited + 1 WHERE id = 1',
  'UPDATE rows SET hidden = 0 WHERE key = (SELECT min(key) FROM rows)',
  'INSERT INTO links VALUES (1, 1, 0, 1, NULL, NULL, NULL, NULL)',
  'UPDATE ids SET key = key + 4 WHERE id = 3',
  "INSERT INTO unique_values VALUES (1, 'x', 1)",
  'INSERT INTO pending_edits VALUES (1, 1, 1, 1)',
  "UPDATE definitions SET data = data || ' '",
  "UPDATE sequences SET value = value + 1 WHERE name = 'entry'",
  "UPDATE commands SET request = request || 'x'",
];

it.each(CHANGES)('does not find the changed table equal after %s', async (change) => {
  const events = logOfCommands(10);
  const [file, changed] = [graphOf(events, () => 100), graphOf(events, () => 100)];
  const equalTables = async (): Promise<ReadonlySet<string>> => {
    const [one, other] = [readGraphContents(file), readGraphContents(changed)];
    const equal = await one.equalTables(other, METER);
    one.close();
    other.close();
    return equal;
  };
  const before = await equalTables();
  ask(changed, change);
  const table = change.split(' ')[change.startsWith('UPDATE') ? 1 : 2] as string;
  expect(before).toContain(table);
  expect(await equalTables()).not.toContain(table);
});
