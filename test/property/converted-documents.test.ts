import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { convertCopy, openConvertedCopy } from '../../projections/graph/converted-copy.ts';
import { documentName, staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { Json } from '../../shared/json.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { createGraphDocuments, miscounted, takeAll } from '../support/graph-documents.ts';
import {
  changed,
  created,
  createLog,
  DEFINITIONS,
  definition,
  deleted,
  SCHEMAS,
  uid,
} from '../unit/graph-fixture.ts';
import { historyOf, steps } from '../unit/graph-history.ts';

/**
 * Documents are made from a copy of a graph that was converted before the new definitions are in the log. Then the graph applies later events,
 * the definitions, and the record of the copy. Every document that differs from the one that was made is marked.
 */
const RUNS = Math.ceil(Number(process.env['VARVE_PROPERTY_RUNS'] ?? 200) / 16);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

const { dependencies, all } = createGraphDocuments({ toOne: 2, toMany: 1, paths: [] });

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
  // Switches of draft & publish and of locales.
  redefined('review', (schema) => ({ ...schema, options: { draftAndPublish: true } })),
  redefined('topic', (schema) => ({ ...schema, pluginOptions: { i18n: { localized: false } } })),
  definition('award', {
    kind: 'collectionType',
    info: { singularName: 'award', pluralName: 'awards', displayName: 'award' },
    options: { draftAndPublish: true },
    attributes: { name: { type: 'string', unique: true } },
  }),
];
const typesOf = (events: readonly VarveEvent[]) =>
  events.map(({ data }) => data as unknown as TypeDefinition);

/** A graph whose file has a converted copy, and the documents that were made from the copy. */
function createPair(earlier: readonly VarveEvent[], changes: readonly VarveEvent[]) {
  const folder = mkdtempSync(join(tmpdir(), 'varve-converted-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [file, copy] = [join(folder, 'graph.db'), join(folder, 'copy.db')];
  const log = createLog();
  const graph = openContentGraph(file, { dependencies });
  graph.replay(log.add(...DEFINITIONS, ...earlier));
  expect(convertCopy({ file, copy }, graph, typesOf(changes))).toBe(true);
  const converted = openConvertedCopy(copy, typesOf(changes), { dependencies });
  if (converted === undefined) throw new Error('the copy does not fit');
  staleDocumentsOf(converted).markAll([...converted.registry().contentTypes.keys()]);
  const made = all(converted);
  return { graph, converted, copy, log, made };
}

/** Returns the names of documents that are not as they were made. */
function changedSince(made: ReadonlyMap<string, string>, graph: ContentGraph): readonly string[] {
  const now = all(graph);
  return [...new Set([...made.keys(), ...now.keys()])].filter((name) => made.get(name) !== now.get(name));
}

it(`marks every document that later writes have changed (seed ${SEED}, ${RUNS} runs)`, () => {
  const property = fc.property(
    fc.subarray([...CHANGES], { minLength: 1 }),
    steps(),
    fc.nat(60),
    (changes, history, at) => {
      const documents = historyOf(history);
      const { graph, converted, copy, log, made } = createPair(documents.slice(0, at), changes);
      takeAll(converted);
      converted.close();
      graph.replay(log.add(...documents.slice(at), ...changes));
      const stale = staleDocumentsOf(graph);
      stale.continueFrom(copy);
      expect(stale.isComplete()).toBe(true);
      const marked = new Set(takeAll(graph).map(documentName));
      expect(changedSince(made, graph).filter((name) => !marked.has(name))).toEqual([]);
      expect(miscounted(graph)).toEqual([]);
      // The record is complete, so each change marks its documents.
      const before = all(graph);
      graph.apply(log.add(created('tag', 'last', { values: { name: 'z' } })));
      const late = new Set(takeAll(graph).map(documentName));
      expect(changedSince(before, graph).filter((name) => !late.has(name))).toEqual([]);
      graph.close();
    },
  );
  fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
});

const RENAME = [CHANGES[0] as VarveEvent];
const country = (n: number) => created('country', `c${n}`, { values: { name: `n${n}` } });

it('marks no other document', () => {
  const { graph, converted, copy, log } = createPair([country(1), country(2)], RENAME);
  takeAll(converted);
  converted.close();
  graph.replay(log.add(country(3), changed('country', 'c2', { values: { name: 'x' } }), ...RENAME));
  staleDocumentsOf(graph).continueFrom(copy);
  const names = takeAll(graph).map(({ key }) => graph.inspect().nameOf(key)?.documentId);
  expect(new Set(names)).toEqual(new Set(['c2', 'c3']));
  graph.close();
});

it('marks all documents if more than 10,000 entries differ', () => {
  const { graph, converted, copy, log } = createPair([country(1), country(2)], RENAME);
  takeAll(converted);
  converted.close();
  const later = Array.from({ length: 10_001 }, (_, n) => country(n + 3));
  graph.replay(log.add(...later, ...RENAME));
  staleDocumentsOf(graph).continueFrom(copy);
  const marked = new Set(takeAll(graph).map(({ key }) => graph.inspect().nameOf(key)?.documentId));
  expect({ count: marked.size, old: marked.has('c1') }).toEqual({ count: 10_003, old: true });
  graph.close();
});

it('takes over the documents that were not made from the copy', () => {
  const { graph, converted, copy, log } = createPair([country(1), country(2)], RENAME);
  const [first, ...others] = staleDocumentsOf(converted).next('backlog', 10, new Map());
  if (first === undefined) throw new Error('no document is stale');
  staleDocumentsOf(converted).settle(converted.position(), [{ document: first, refused: 'too large' }]);
  converted.close();
  graph.replay(log.add(...RENAME));
  const stale = staleDocumentsOf(graph);
  stale.continueFrom(copy);
  expect(stale.parked.list()).toMatchObject([{ key: first.key, reason: 'too large' }]);
  expect(takeAll(graph).map(documentName).sort()).toEqual(others.map(documentName).sort());
  graph.close();
});

it('marks all documents if the definitions came in another order, which gives relations other numbers', () => {
  const changes = [CHANGES[2], CHANGES[3]] as VarveEvent[];
  const { graph, converted, copy, log, made } = createPair([country(1)], changes);
  takeAll(converted);
  converted.close();
  graph.replay(log.add(...changes.toReversed(), deleted('country', 'c1')));
  const stale = staleDocumentsOf(graph);
  stale.continueFrom(copy);
  expect(stale.isComplete()).toBe(true);
  const marked = new Set(takeAll(graph).map(documentName));
  expect(changedSince(made, graph).filter((name) => !marked.has(name))).toEqual([]);
  graph.close();
});

it('is not used with other definitions', () => {
  const { graph, converted, copy } = createPair([country(1)], RENAME);
  converted.close();
  expect(openConvertedCopy(copy, typesOf(DEFINITIONS), { dependencies })).toBeUndefined();
  graph.close();
});
