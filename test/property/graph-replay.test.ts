import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import type { JournalRow } from '../../projections/journal/journal.ts';
import { localesOfEntries } from '../../shared/document/entry.ts';
import { isDocumentEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ChangeBatch, LinkChange } from '../../shared/read-index/read-index.ts';
import { count } from '../support/takes-minutes.ts';
import {
  createLog,
  DEFINITIONS,
  deleted,
  dumpIndex,
  type FoldedIndex,
  foldBatches,
  withFolder,
  withGraph,
} from '../unit/graph-fixture.ts';
import { historyOf, type Step, steps } from '../unit/graph-history.ts';

/**
 * The graph is a function of the log: every replay gives the same rows, ids, component ids, links and journal. It does not depend on the
 * batches of the log, on restarts in between, or on crashes before the index got a batch.
 */
const RUNS = Number(process.env['GRAPH_RUNS'] ?? count(60, 10));
const SEED = Number(process.env['SEED'] ?? 14);

describe(`random histories (SEED=${SEED})`, () => {
  it('gives the same graph in batches of one as in one batch, and after a rebuild', () => {
    check(fc.tuple(steps(), fc.infiniteStream(fc.integer({ min: 1, max: 7 }))), ([history, sizes]) => {
      const events = logOf(history);
      const whole = replay(events, () => events.length);
      expect(replay(events, () => 1)).toEqual(whole);
      expect(replay(events, () => sizes.next().value ?? 1, { restartEvery: 3 })).toEqual(whole);
      expect(rebuild(events)).toEqual(whole);
    });
  });

  it('gives the same graph when a separate thread writes it', () => {
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 7 }));
    check(
      fc.tuple(steps(), sizes),
      ([history, size]) => {
        const events = logOf(history);
        expect(writtenBehind(events, () => size.next().value ?? 1)).toEqual(rebuild(events));
      },
      RUNS / 6,
    );
  });

  it('gives the same graph after erasures, however they are in batches, and when a separate thread writes it', () => {
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 40 }));
    check(
      fc.tuple(steps(), steps(), sizes),
      ([before, after, size]) => {
        const events = erasedBetween(before, after);
        const whole = replay(events, () => events.length);
        expect(replay(events, () => 1)).toEqual(whole);
        expect(writtenBehind(events, () => events.length)).toEqual(whole);
        expect(writtenBehind(events, () => size.next().value ?? 1)).toEqual(whole);
      },
      RUNS / 3,
    );
  });

  it('never shows two targets of a to-one, nor two owners of an exclusive target', () => {
    check(steps(), (history) => {
      const links = withGraph({}, (graph) => {
        graph.apply(logOf(history));
        return [...foldBatches(graph.readAll()).links.values()];
      });
      for (const attribute of ['chef', 'mentor', 'country', 'restaurant', 'author', 'menu']) {
        expect(doubles(links, attribute, ({ source }) => source)).toEqual([]);
      }
      expect(doubles(links, 'menu', ({ target }) => target)).toEqual([]);
    });
  });

  it('publishes only content that was in a draft at some publication', () => {
    check(steps(), (history) => {
      const withoutPublication = history.filter(({ kind }) => kind !== 'publish');
      const published = withGraph({}, (graph) => {
        graph.apply(logOf(withoutPublication));
        const { rows, links } = foldBatches(graph.readAll());
        const versions = [...rows.values()].map(({ version }) => version);
        const draftKeys = new Set(
          [...rows.values()].filter((row) => row.version === 'draft').map(({ key }) => key),
        );
        const leaks = [...links.values()].filter(
          ({ world, source, target }) =>
            world === 'published' && (draftKeys.has(source) || draftKeys.has(target)),
        );
        return { versions, leaks };
      });
      expect(published.versions).not.toContain('published');
      expect(published.leaks).toEqual([]);
    });
  });
});

function check<T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void, numRuns = RUNS): void {
  fc.assert(fc.property(arbitrary, property), { seed: SEED, numRuns: Math.ceil(numRuns) });
}

function logOf(history: readonly Step[]): readonly StoredEvent[] {
  const log = createLog();
  return log.add(...DEFINITIONS, ...historyOf(history));
}

/** Returns a history, an erasure of each of its documents, and another history. */
function erasedBetween(before: readonly Step[], after: readonly Step[]): readonly StoredEvent[] {
  const log = createLog();
  const events = log.add(...DEFINITIONS, ...historyOf(before)).filter(isDocumentEvent);
  const documents = new Map(
    events.map(({ data }) => {
      const { type, documentId } = data as { readonly type: string; readonly documentId: string };
      return [`${type} ${documentId}`, { type, documentId }];
    }),
  );
  for (const { type, documentId } of documents.values()) {
    const entries = withGraph({}, (graph) => {
      graph.apply(log.all());
      return graph.reader.entries(type, documentId);
    });
    const deletions = localesOfEntries(entries).map((locale) => deleted(type, documentId, locale));
    const data = { order: 'order', type, documentId, events: [] };
    log.add(...deletions, { type: 'document-erased', data } as never);
  }
  log.add(...historyOf(after));
  return log.all();
}

function doubles(
  links: readonly LinkChange[],
  attribute: string,
  end: (link: LinkChange) => number,
): unknown[] {
  const seen = new Set<string>();
  return links.filter((link) => {
    if (link.attribute !== attribute) return false;
    const key = JSON.stringify([link.rowSet, link.world, end(link)]);
    return seen.size === seen.add(key).size;
  });
}

/** Replays events. Checks that the folded changes equal the graph, and returns the graph's contents. */
function replay(
  events: readonly StoredEvent[],
  nextSize: () => number,
  { restartEvery = 0 }: { restartEvery?: number } = {},
): unknown {
  return withFolder((folder) => {
    const file = path.join(folder, 'graph.db');
    let graph = openContentGraph(file);
    let index: FoldedIndex = foldBatches([]);
    let from = 0;
    for (let batches = 1; from < events.length; batches++) {
      const batch: ChangeBatch = graph.apply(events.slice(from, from + nextSize()));
      from = Number(graph.position());
      if (restartEvery > 0 && batches % restartEvery === 0) {
        // After a crash between the graph's commit and the index, the next start loads the index from the graph.
        graph.close();
        graph = openContentGraph(file);
        index = foldBatches(graph.readAll(3));
      } else {
        foldBatches([batch], index);
      }
    }
    const loaded = dumpIndex(foldBatches(graph.readAll()));
    const journal = journalOf(graph);
    graph.close();
    expect(dumpIndex(index)).toEqual(loaded);
    return { loaded, journal };
  });
}

/** Rebuilds like a start without the graph's file: an index gets nothing before it is loaded. */
function rebuild(events: readonly StoredEvent[]): unknown {
  return withGraph({}, (graph) => {
    graph.replay(events);
    return { loaded: dumpIndex(foldBatches(graph.readAll())), journal: journalOf(graph) };
  });
}

function journalOf({ changesBetween, position }: ContentGraph): readonly JournalRow[] {
  return changesBetween(0n, position());
}

/** Rebuilds with interruptions. */
function writtenBehind(events: readonly StoredEvent[], nextSize: () => number): unknown {
  return withFolder((folder) => {
    const file = path.join(folder, 'graph.db');
    let graph = openContentGraph(file, { building: true });
    for (let from = 0; from < events.length; from = Number(graph.position())) {
      graph.replay(events.slice(from, from + nextSize()));
      if (from > events.length / 2 && from < events.length / 2 + 7) {
        graph.close();
        graph = openContentGraph(file, { building: true });
      }
    }
    graph.close();
    const written = openContentGraph(file);
    const loaded = dumpIndex(foldBatches(written.readAll()));
    const journal = journalOf(written);
    written.close();
    return { loaded, journal };
  });
}
