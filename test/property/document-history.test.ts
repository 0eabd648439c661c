import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ContentGraph, openEmptyGraph } from '../../projections/graph/content-graph.ts';
import { diffSequences } from '../../services/history/diff-sequences.ts';
import { foldDocuments } from '../../services/history/document-at.ts';
import { presentRow, snapshotOf } from '../../services/history/present-row.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import { isDocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { definitionStream, documentStream } from '../../shared/document/stream-name.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { addToList } from '../../shared/map-values.ts';
import type { Model } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { count } from '../support/takes-minutes.ts';
import { createLog } from '../unit/graph-fixture.ts';
import { steps } from '../unit/graph-history.ts';
import { ATTRIBUTE_CHANGES, placeChanges, ROW_CHANGES, typeChanges } from '../unit/type-changes.ts';

/**
 * A version of a document equals the document of a server whose log ends there, under the content types of now. Links are left out: other
 * documents' events change them too.
 */
const RUNS = Number(process.env['GRAPH_RUNS'] ?? count(60, 3));
const SEED = Number(process.env['SEED'] ?? 43);
const SPACE = 'varve';
const MOST_VERSIONS = count(12, 6);

function withoutRelations({ contentTypes, components }: SchemaRegistry): SchemaRegistry {
  const own = <Kind extends Model>(model: Kind): Kind => ({
    ...model,
    attributes: new Map([...model.attributes].filter(([, { kind }]) => kind !== 'relation')),
  });
  return {
    contentTypes: new Map([...contentTypes].map(([uid, type]) => [uid, own(type)])),
    components: new Map([...components].map(([uid, component]) => [uid, own(component)])),
  };
}

/** Returns the rows of a document as answers show them. */
function rowsIn(graph: ContentGraph, name: DocumentName): unknown {
  const registry = withoutRelations(graph.registry());
  if (!registry.contentTypes.has(name.type)) return [];
  const snapshot = snapshotOf(graph, name);
  const viewer = { registry, showsTarget: () => true };
  return snapshot.entries.map((row) => [row.locale, row.version, presentRow(viewer, snapshot, row)]);
}

function streamsOf(events: readonly StoredEvent[]) {
  const streams = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const data = event.data as { readonly uid: string } & DocumentEvent['data'];
    const name = isDocumentEvent(event)
      ? documentStream(SPACE, data.type, data.documentId)
      : definitionStream(SPACE, data.uid);
    addToList(streams, name, event);
  }
  return async function* stream(name: string): AsyncGenerator<StoredEvent> {
    yield* streams.get(name) ?? [];
  };
}

/** Replays a log that ends at a position, and then the later definitions of content types. */
function cutAt(events: readonly StoredEvent[], position: bigint): ContentGraph {
  const graph = openEmptyGraph();
  const kept = events.filter((event) => event.position <= position || !isDocumentEvent(event));
  for (const [at, event] of kept.entries()) graph.replay([{ ...event, position: BigInt(at + 1) }]);
  return graph;
}

/** Returns whether every relation has its other side. Two changes of a history may each know only their own types. */
function arePaired({ contentTypes }: SchemaRegistry): boolean {
  return [...contentTypes.values()].every(({ attributes }) =>
    [...attributes.values()].every((attribute) => {
      if (attribute.kind !== 'relation' || attribute.mappedBy === undefined) return true;
      return contentTypes.get(attribute.target)?.attributes.has(attribute.mappedBy) === true;
    }),
  );
}

it('reads each version as a log that ends there has it', { timeout: 120_000 + RUNS * 10_000 }, async () => {
  const now = fc.array(fc.constantFrom(...ATTRIBUTE_CHANGES, ...ROW_CHANGES), { maxLength: 2 });
  const changes = typeChanges([...ATTRIBUTE_CHANGES, ...ROW_CHANGES]);
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(steps(), changes, now, fc.nat(999), async (history, wanted, last, first) => {
      const { changing } = placeChanges(history, wanted);
      const events = createLog().add(...changing, ...last.flatMap(({ defines }) => defines));
      const whole = cutAt(events, BigInt(events.length));
      const registry = whole.registry();
      whole.close();
      fc.pre(arePaired(registry));
      const versions = events.filter(isDocumentEvent);
      const step = Math.max(1, Math.floor(versions.length / MOST_VERSIONS));
      for (let at = first % step; at < versions.length; at += step) {
        const { position, revision, data } = versions[at] as StoredEvent;
        const { type, documentId } = data as DocumentEvent['data'];
        const truth = cutAt(events, position);
        const options = { events: { stream: streamsOf(events) }, space: SPACE, registry };
        const folded = await foldDocuments(options, [{ type, documentId, revision }]);
        expect(rowsIn(folded, { type, documentId })).toEqual(rowsIn(truth, { type, documentId }));
        truth.close();
        folded.close();
        compared++;
      }
    }),
    { seed: SEED, numRuns: RUNS },
  );
  expect(compared).toBeGreaterThan(RUNS);
});

it('finds a shortest difference of two sequences', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(letters, letters, (from, to) => {
      const runs = diffSequences(from, to, (letter) => letter);
      const without = (kind: string) => runs.flatMap((run) => (run.kind === kind ? [] : run.items));
      const same = runs.reduce((sum, { kind, items }) => sum + (kind === 'same' ? items.length : 0), 0);
      expect([without('added'), without('removed'), same]).toEqual([from, to, longestCommon(from, to)]);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

function longestCommon(from: readonly string[], to: readonly string[]): number {
  let before = to.map(() => 0);
  for (const letter of from) {
    const row: number[] = [];
    for (const [at, other] of to.entries())
      row.push(letter === other ? (before[at - 1] ?? 0) + 1 : Math.max(before[at] ?? 0, row.at(-1) ?? 0));
    before = row;
  }
  return before.at(-1) ?? 0;
}
