import { expect, it, onTestFinished } from 'vitest';
import { countErasable, planErasure } from '../../services/erasure/plan-erasure.ts';
import type { DocumentEvent, VarveEvent } from '../../shared/document/events.ts';
import { definitionStream, documentStream } from '../../shared/document/stream-name.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { created, definition, uid } from './graph-fixture.ts';

const SPACE = 'varve';
const TAG = uid('tag');

it('reads the definitions of a content type once for many documents, and later ones when there are some', async () => {
  const store = openSqliteEventStore(':memory:', { space: SPACE });
  onTestFinished(() => store.close());
  const append = (stream: string, event: VarveEvent | DocumentEvent) =>
    store.append(stream, 'any', [newEvent(event, { at: '2026-01-01T00:00:00.000Z', epoch: 0 })]);
  const definitions = definitionStream(SPACE, TAG);
  const create = (id: string) =>
    append(documentStream(SPACE, TAG, id), created('tag', id, { values: { name: id } }));
  let read = 0;
  const log: typeof store = {
    ...store,
    async *readStream(stream, from) {
      for await (const event of store.readStream(stream, from)) {
        if (stream === definitions) read++;
        yield event;
      }
    },
  };
  const erasable = { log, space: SPACE };
  await append(definitions, definition('tag'));
  await append(definitions, definition('tag'));
  const ids = Array.from({ length: 5 }, (_, n) => `tag${n}`);
  for (const id of ids) await create(id);
  for (const documentId of ids) {
    expect(await countErasable(erasable, { type: TAG, documentId })).toBe(1);
    expect(await planErasure(erasable, { order: 'o', type: TAG, documentId })).toHaveLength(1);
  }
  expect(read).toBe(2);
  await append(definitions, definition('tag'));
  await create('later');
  expect(await countErasable(erasable, { type: TAG, documentId: 'later' })).toBe(1);
  expect(read).toBe(3);
});
