import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { compareGraphs } from '../../projections/generations/compare-graphs.ts';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { convertCopy, openConvertedCopy } from '../../projections/graph/converted-copy.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { Json } from '../../shared/json.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { connectDatabase } from '../../shared/sqlite/open-database.ts';
import {
  changed,
  connect,
  created,
  createLog,
  DEFINITIONS,
  definition,
  disconnect,
  foldBatches,
  published,
  SCHEMAS,
  uid,
} from './graph-fixture.ts';
import { historyOf, steps } from './graph-history.ts';

/**
 * A copy of a graph is converted before the new definitions are in the log. Then it applies the events that the graph applied meanwhile.
 * The result equals a replay of the whole log, and so does an index that got the copy's changes.
 */
const RUNS = Math.ceil(Number(process.env['GRAPH_RUNS'] ?? 30) / 6);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

function createFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'varve-converted-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { file: join(folder, 'graph.db'), copy: join(folder, 'copy.db'), whole: join(folder, 'whole.db') };
}

const redefined = (
  name: string,
  change: (schema: Record<string, Json>) => Record<string, Json>,
): VarveEvent => definition(name, change(SCHEMAS[name] as Record<string, Json>) as Json);
const attributes = (name: string, change: Record<string, Json>, ...gone: readonly string[]): VarveEvent =>
  redefined(name, (schema) => {
    const all = Object.entries({ ...(schema['attributes'] as object), ...change });
    return { ...schema, attributes: Object.fromEntries(all.filter(([key]) => !gone.includes(key))) as Json };
  });
const RENAMED = (from: string) => ({ pluginOptions: { varve: { renamedFrom: from } } });
const relation = (kind: string, target: string, more: object = {}) =>
  ({ type: 'relation', relation: kind, target: uid(target), ...more }) as Json;

/** Changes of names, types, privacy and uniqueness of attributes, also in components, and of relations from both sides. */
const CHANGES: readonly VarveEvent[] = [
  attributes('country', { label: { type: 'string', unique: true, ...RENAMED('name') } }, 'name'),
  attributes('tag', { restaurants: relation('manyToMany', 'restaurant', { mappedBy: 'labels' }) }),
  attributes('chef', { name: { type: 'string', private: true } }, 'mentor', 'mentees'),
  attributes(
    'restaurant',
    {
      labels: relation('manyToMany', 'tag', { inversedBy: 'restaurants', ...RENAMED('tags') }),
      name: { type: 'text' },
      place: { type: 'component', component: 'common.address', repeatable: false, ...RENAMED('address') },
      similar: relation('oneToMany', 'chef'),
      sections: { type: 'dynamiczone', components: ['common.geo'] },
    },
    'tags',
    'address',
  ),
  attributes(
    'article',
    { code: { type: 'integer' }, writer: relation('manyToOne', 'chef', RENAMED('author')) },
    'author',
  ),
  definition('award', {
    kind: 'collectionType',
    info: { singularName: 'award', pluralName: 'awards', displayName: 'award' },
    options: { draftAndPublish: true },
    attributes: { name: { type: 'string', unique: true } },
  }),
];
const typesOf = (events: readonly VarveEvent[]) =>
  events.map(({ data }) => data as unknown as TypeDefinition);

function* cut(events: readonly StoredEvent[], sizes: Iterator<number>): Iterable<readonly StoredEvent[]> {
  for (let from = 0; from < events.length; ) {
    const size = sizes.next().value ?? 1;
    yield events.slice(from, from + size);
    from += size;
  }
}

async function expectAlike(one: string, other: string): Promise<void> {
  const [before, after] = [readGraphContents(one), readGraphContents(other)];
  const found = await compareGraphs({ before, after, scope: {} }, { worked: async () => {} }, 10);
  before.close();
  after.close();
  expect(found).toEqual({ differences: [], count: 0 });
}

/** Returns the rows and links of an index in an order that does not depend on its history. */
function held(index: ReturnType<typeof foldBatches>) {
  return {
    rows: [...index.rows]
      .map(([key, { source, ...row }]) => [key, { ...row, source: String(source) }])
      .sort(),
    links: [...index.links].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

it(`equals a replay of the log, with any writes after the conversion (SEED=${SEED})`, async () => {
  const property = fc.asyncProperty(
    fc.subarray([...CHANGES], { minLength: 1 }),
    steps(),
    fc.nat(60),
    fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
    async (changes, history, at, cuts) => {
      const { file, copy, whole } = createFiles();
      const documents = historyOf(history);
      const log = createLog();
      const earlier = log.add(...DEFINITIONS, ...documents.slice(0, at));
      const late = log.add(...documents.slice(at));
      const rest = log.add(...changes, created('tag', 'last', { values: { name: 'z' } }));
      const building = openContentGraph(file, { building: true });
      building.replay(earlier);
      expect(convertCopy({ file, copy }, building, typesOf(changes))).toBe(true);
      building.close();

      const graph = openContentGraph(file);
      const converted = openConvertedCopy({ file, copy }, graph, typesOf(changes));
      if (converted === undefined) throw new Error('the copy does not fit');
      converted.catchUp();
      const loaded = [...converted.graph.readAll()];
      expect(new Set(loaded.map(({ position }) => position))).toEqual(new Set([graph.position()]));
      const index = foldBatches(loaded);
      for (const events of cut(late, cuts)) {
        graph.replay(events);
        if (events.length % 2 === 0) foldBatches([converted.catchUp()], index);
      }
      foldBatches([converted.catchUp()], index);
      converted.replace();
      expect(existsSync(copy)).toBe(false);
      expect(held(index)).toEqual(held(foldBatches(graph.readAll())));
      graph.replay(rest);
      graph.close();

      const replayed = openContentGraph(whole);
      replayed.replay(log.all());
      replayed.close();
      await expectAlike(whole, file);
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
});

const RENAME = [CHANGES[0] as VarveEvent];

/** Creates a graph of two countries with a converted copy. A third country is written later. */
function createPair(changes = RENAME) {
  const files = createFiles();
  const log = createLog();
  const country = (n: number) => created('country', `c${n}`, { values: { name: `n${n}` } });
  const graph = openContentGraph(files.file);
  graph.replay(log.add(...DEFINITIONS, country(1), country(2)));
  const isMade = convertCopy(files, graph, typesOf(changes));
  graph.replay(log.add(country(3)));
  return { files, graph, log, isMade };
}

function labels(graph: ContentGraph): readonly unknown[] {
  return ['c1', 'c2', 'c3'].map((id) => graph.reader.entries(uid('country'), id)[0]?.values['label']);
}

it.each([
  ['of other definitions', (files: ReturnType<typeof createFiles>) => ({ ...files, types: [] })],
  [
    'of another pair',
    (files: ReturnType<typeof createFiles>) => {
      const other = createPair();
      other.graph.close();
      return { ...files, copy: other.files.copy, types: typesOf(RENAME) };
    },
  ],
])('is not used when it is %s: the graph converts its rows itself', (_what, change) => {
  const { files, graph, log } = createPair();
  const { file, copy, types } = change(files);
  expect(openConvertedCopy({ file, copy }, graph, types)).toBeUndefined();
  expect(existsSync(copy)).toBe(false);
  graph.replay(log.add(...RENAME));
  expect(labels(graph)).toEqual(['n1', 'n2', 'n3']);
  graph.close();
});

it('is not used after its graph was rebuilt', () => {
  const { files, graph, log } = createPair();
  graph.close();
  rmSync(files.file);
  const again = openContentGraph(files.file);
  again.replay(log.all());
  expect(openConvertedCopy(files, again, typesOf(RENAME))).toBeUndefined();
  again.close();
});

it('is not used when the graph has already applied the definitions', () => {
  const { files, graph, log } = createPair();
  graph.replay(log.add(...RENAME));
  expect(openConvertedCopy(files, graph, typesOf(RENAME))).toBeUndefined();
  expect(labels(graph)).toEqual(['n1', 'n2', 'n3']);
  graph.close();
});

it.each([
  ['draft & publish', { options: { draftAndPublish: true } }],
  ['locales', { pluginOptions: { i18n: { localized: true } } }],
])('is not made if %s are switched', (_what, more) => {
  const { files, graph, isMade } = createPair([redefined('country', (schema) => ({ ...schema, ...more }))]);
  expect(isMade).toBe(false);
  expect(existsSync(files.copy)).toBe(false);
  graph.close();
});

it('can be completed again by a process that opens it after a crash', () => {
  const { files, graph, log } = createPair();
  // The first process has added the third country to the copy, and is lost.
  const lost = openConvertedCopy(files, graph, typesOf(RENAME));
  if (lost === undefined) throw new Error('the copy does not fit');
  lost.catchUp();
  graph.replay(log.add(created('country', 'c4', { values: { name: 'n4' } })));
  (lost.graph as ContentGraph).close();
  const converted = openConvertedCopy(files, graph, typesOf(RENAME));
  expect(converted?.catchUp().rows.length).toBe(2);
  converted?.replace();
  graph.replay(log.add(...RENAME));
  expect(labels(graph)).toEqual(['n1', 'n2', 'n3']);
  graph.close();
});

it('keeps an edit from the inverse side of a removed relation, also if its link is gone', async () => {
  const files = createFiles();
  const log = createLog();
  const withoutMentor = [CHANGES[2] as VarveEvent];
  const graph = openContentGraph(files.file);
  const both = ['a', 'b'].flatMap((id) => [created('chef', id), published('chef', id)]);
  graph.replay(log.add(...DEFINITIONS, ...both));
  convertCopy(files, graph, typesOf(withoutMentor));
  const edit = (operation: object) => changed('chef', 'b', { relations: [operation as Json] });
  graph.replay(log.add(edit(connect('mentees', 'a')), edit(disconnect('mentees', 'a'))));
  const converted = openConvertedCopy(files, graph, typesOf(withoutMentor));
  converted?.catchUp();
  converted?.replace();
  graph.replay(log.add(...withoutMentor));
  graph.close();
  const replayed = openContentGraph(files.whole);
  replayed.replay(log.all());
  replayed.close();
  await expectAlike(files.whole, files.file);
  expect(pendingEdits(files.file)).toEqual(pendingEdits(files.whole));
  expect(pendingEdits(files.file)).toHaveLength(1);
});

function pendingEdits(file: string): unknown {
  const db = connectDatabase(file, { durability: 'normal' });
  const edits = db.prepare('SELECT * FROM pending_edits').all();
  db.close();
  return edits;
}
