import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { documentName } from '../../projections/graph/stale/stale-documents.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { createGraphDocuments, miscounted, takeAll } from '../support/graph-documents.ts';
import { created, createLog, DEFINITIONS, deleted, withGraph } from '../unit/graph-fixture.ts';
import { historyOf, steps } from '../unit/graph-history.ts';

const RUNS = Math.ceil(Number(process.env['VARVE_PROPERTY_RUNS'] ?? 200) / 16);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

/** Paths of every kind from a document to rows that it shows: both sides, to-many, components, locales, three steps. */
const PATHS = [
  'tags.restaurants.chef',
  'reviews',
  'similar.similar',
  'chefs.restaurants',
  'mentees.mentees',
  'author.mentor',
  'localizations.topics',
  'sections.chefs',
  'address.country.chefs',
];
const { dependencies, all: allDocuments } = createGraphDocuments({ toOne: 2, toMany: 1, paths: PATHS });

/** Returns the documents that a batch of events changed, created or removed, but that are not marked as stale. */
function missedBy(
  graph: ContentGraph,
  before: ReadonlyMap<string, string>,
): { readonly missed: readonly string[]; readonly after: Map<string, string> } {
  const after = allDocuments(graph);
  const marked = new Set(takeAll(graph).map(documentName));
  const names = new Set([...before.keys(), ...after.keys()]);
  const missed = [...names].filter((name) => before.get(name) !== after.get(name) && !marked.has(name));
  return { missed, after };
}

describe(`stale documents (seed ${SEED}, ${RUNS} runs)`, () => {
  it('are all marked: each document that a batch of events changes, makes or removes is listed', () => {
    const histories = steps();
    const property = fc.property(histories, fc.integer({ min: 1, max: 4 }), (history, size) => {
      withGraph({ dependencies }, (graph) => {
        const log = createLog();
        graph.apply(log.add(...DEFINITIONS));
        graph.stale?.markAll([...graph.registry().contentTypes.keys()]);
        const events = log.add(...historyOf(history));
        let before = new Map<string, string>();
        for (let from = 0; from < events.length; from += size) {
          const batch: readonly StoredEvent[] = events.slice(from, from + size);
          graph.apply(batch);
          const { missed, after } = missedBy(graph, before);
          expect(missed).toEqual([]);
          before = after;
        }
        expect(miscounted(graph)).toEqual([]);
      });
    });
    fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  });

  it('include documents that copy a row whose other locale was deleted', () => {
    withGraph({ dependencies }, (graph) => {
      const log = createLog();
      const topics = { attribute: 'topics', kind: 'set', targets: [{ documentId: 'topic', locale: 'en' }] };
      graph.apply(log.add(...DEFINITIONS));
      graph.stale?.markAll([...graph.registry().contentTypes.keys()]);
      graph.apply(
        log.add(
          created('topic', 'topic', {}, 'en'),
          created('topic', 'topic', {}, 'fr'),
          created('article', 'article', { relations: [topics] }, 'en'),
        ),
      );
      const before = allDocuments(graph);
      takeAll(graph);
      graph.apply(log.add(deleted('topic', 'topic', 'fr')));
      const { missed, after } = missedBy(graph, before);
      expect(missed).toEqual([]);
      const others = [...before.keys()].filter((name) => after.has(name));
      expect(others.filter((name) => before.get(name) !== after.get(name))).toHaveLength(3);
    });
  });
});
