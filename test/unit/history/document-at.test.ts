import { expect, it, onTestFinished } from 'vitest';
import { readDocumentAt } from '../../../services/history/document-at.ts';
import type { DocumentEvent, VarveEvent } from '../../../shared/document/events.ts';
import { definitionStream, documentStream } from '../../../shared/document/stream-name.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../../shared/events/new-event.ts';
import { createEffectiveEvents } from '../../../shared/fleet/effective-events.ts';
import { schemasOf } from '../command-world.ts';
import { changed, created, definition, uid } from '../graph-fixture.ts';

const SPACE = 'varve';
const AT = '2026-01-01T00:00:00.000Z';
const noteOf = (attributes: object) => ({
  kind: 'collectionType',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
  options: { draftAndPublish: true },
  attributes,
});
const BEFORE = noteOf({ name: { type: 'string' }, size: { type: 'integer' } });
const AFTER = noteOf({
  title: { type: 'string', pluginOptions: { varve: { renamedFrom: 'name' } } },
  size: { type: 'string' },
});

it('reads a document at an earlier position with the values of an attribute that was renamed since', async () => {
  const log = openSqliteEventStore(':memory:', { space: SPACE });
  onTestFinished(() => log.close());
  const append = (stream: string, event: VarveEvent | DocumentEvent) =>
    log.append(stream, 'any', [newEvent(event, { at: AT, epoch: 0 })]);
  const types = definitionStream(SPACE, uid('note'));
  const stream = documentStream(SPACE, uid('note'), 'n1');
  await append(types, definition('note', BEFORE as never));
  await append(stream, created('note', 'n1', { values: { name: 'first', size: 1 } }));
  await append(stream, changed('note', 'n1', { values: { name: 'second' } }));
  await append(types, definition('note', AFTER as never));
  await append(stream, changed('note', 'n1', { values: { title: 'third' } }));
  const { registry } = schemasOf({ note: AFTER });
  const valuesAt = async (revision: bigint) => {
    const { rows } = await readDocumentAt(
      { events: createEffectiveEvents(log, SPACE), space: SPACE, registry },
      { type: uid('note'), documentId: 'n1', revision },
    );
    return rows.map(({ values }) => [values['title'], values['size']]);
  };
  expect(await valuesAt(0n)).toEqual([['first', '1']]);
  expect(await valuesAt(1n)).toEqual([['second', '1']]);
  expect(await valuesAt(2n)).toEqual([['third', '1']]);
});
