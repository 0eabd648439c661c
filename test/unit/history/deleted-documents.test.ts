import { expect, it, onTestFinished } from 'vitest';
import { openEmptyGraph } from '../../../projections/graph/content-graph.ts';
import { listDeleted } from '../../../services/history/deleted-documents.ts';
import type { DocumentEvent, VarveEvent } from '../../../shared/document/events.ts';
import { definitionStream, documentStream } from '../../../shared/document/stream-name.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../../shared/events/new-event.ts';
import { createEffectiveEvents } from '../../../shared/fleet/effective-events.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { schemasOf } from '../command-world.ts';
import { changed, created, definition, deleted, uid } from '../graph-fixture.ts';

const SPACE = 'varve';
const NOTE = uid('note');
const SCHEMA = {
  kind: 'collectionType',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
  options: { draftAndPublish: true },
  attributes: { name: { type: 'string' } },
};

/** Creates a log and a graph in which these documents were deleted one after the other, each with this number of events. */
async function afterDeletions(lengths: Readonly<Record<string, number>>) {
  const log = openSqliteEventStore(':memory:', { space: SPACE });
  onTestFinished(() => log.close());
  const append = (stream: string, events: readonly (VarveEvent | DocumentEvent)[]) => {
    const metadata = { at: '2026-01-01T00:00:00.000Z', epoch: 0 };
    return log.append(
      stream,
      'any',
      events.map((event) => newEvent(event, metadata)),
    );
  };
  await append(definitionStream(SPACE, NOTE), [definition('note', SCHEMA as never)]);
  for (const [id, length] of Object.entries(lengths)) {
    const edits = Array.from({ length: length - 2 }, (_, n) =>
      changed('note', id, { values: { name: `${id} ${n}` } }),
    );
    const events = [created('note', id, { values: { name: id } }), ...edits, deleted('note', id)];
    await append(documentStream(SPACE, NOTE, id), events);
  }
  const graph = openEmptyGraph();
  onTestFinished(() => graph.close());
  for await (const batch of log.readAll(0n)) graph.apply(batch);
  const { registry } = schemasOf({ note: { attributes: SCHEMA.attributes } });
  const viewer = {
    registry,
    isFull: true,
    mayReadDrafts: true,
    mayFind: () => true,
    showsTarget: () => true,
  };
  const events = createEffectiveEvents(log, SPACE);
  const options = { events, space: SPACE, registry, graph, defaultLocale: 'en', rules: {} };
  return (query: string) =>
    listDeleted(options, {
      type: contentTypeOf(registry, NOTE),
      documentId: '',
      version: '',
      query,
      viewer,
    });
}

it('lists as many of the newest deleted documents as have 20,000 events, and continues with earlier ones', async () => {
  const list = await afterDeletions({ first: 10, long: 12_000, endless: 20_001, last: 9_000 });
  const listed = async (query: string) => {
    const { data, meta } = await list(query);
    const names = (data as readonly { readonly documentId: string }[]).map(({ documentId }) => documentId);
    return { names, next: (meta as { readonly next: string | null }).next };
  };
  const newest = await listed('');
  expect(newest.names).toEqual(['last']);
  const earlier = await listed(`before=${newest.next}`);
  expect(earlier).toEqual({ names: ['long', 'first'], next: null });
});
