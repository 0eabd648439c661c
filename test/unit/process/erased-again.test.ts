import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ErasureLine, noteErasures, readErasures } from '../../../services/erasure/erasure-file.ts';
import { readLease } from '../../../services/fleet/lease-view.ts';
import type { Varve } from '../../../services/process/open-varve.ts';
import { FULL_ACCESS } from '../../../shared/access/rights.ts';
import type { VarveEvent } from '../../../shared/document/events.ts';
import { definitionStream, documentStream } from '../../../shared/document/stream-name.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../../shared/events/new-event.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { dataForTest } from '../../support/data-for-test.ts';
import { findWords } from '../../support/find-words.ts';
import { openInProcess } from '../../support/varve-in-process.ts';
import { created, definition } from '../graph-fixture.ts';

/** A data directory of before an erasure is there again, and not by `varve restore`. */

const SPACE = 'varve';
const TAG = 'api::tag.tag';
const WORDS = ['Quixotellix', 'Zanzibrillo'];

const GONE = {
  kind: 'collectionType',
  info: { singularName: 'gone', pluralName: 'gones', displayName: 'gone' },
  options: { draftAndPublish: false },
  attributes: { name: { type: 'string' } },
};

async function createTag(varve: Varve, name: string): Promise<string> {
  const type = contentTypeOf(varve.registry, TAG);
  const created = await varve.apiFor(FULL_ACCESS).content.create(type, '', { data: { key: name, name } });
  const { data } = JSON.parse(String(created.body)) as { readonly data: { readonly documentId: string } };
  return data.documentId;
}

function ledgerOf(data: string): ErasureLine[] {
  return [...readErasures(join(data, 'erasures.jsonl'))];
}

function erase({ operator }: Varve, request: Parameters<NonNullable<Varve['operator']['erase']>>[0]) {
  return operator.erase?.(request) ?? Promise.reject(new Error('there is no server'));
}

/** Returns a data directory of before three erasures, which has two of the documents, and what was erased. */
async function restored() {
  const [data, copy] = [dataForTest(), dataForTest()];
  const before = await openInProcess(data);
  const ids = [await createTag(before, WORDS[0] ?? ''), await createTag(before, WORDS[1] ?? '')];
  await createTag(before, 'kept');
  await before.close();
  cpSync(data, copy, { recursive: true });
  const varve = await openInProcess(data);
  const later = await createTag(varve, 'later');
  for (const documentId of [...ids, later])
    await erase(varve, { type: TAG, documentId, reason: `for ${documentId}`, confirm: 1 });
  await varve.close();
  const opened = await openInProcess(copy);
  onTestFinished(() => opened.close());
  return { copy, opened, ids, ledger: ledgerOf(data) };
}

it('erases again what a ledger names and exists again, after its number was confirmed', async () => {
  const { copy, opened, ids, ledger } = await restored();
  expect(ledger).toHaveLength(3);
  const documents = ids.map((documentId) => ({ type: TAG, documentId, events: 1, order: null }));
  // A document may have been erased twice.
  const twice = [...ledger, ...ledger];
  expect(await erase(opened, { ledger: twice })).toEqual({ erased: false, documents, count: 2 });
  await expect(erase(opened, { ledger, confirm: 3 })).rejects.toThrow('confirm must be 2');
  expect(await findWords(copy, WORDS)).not.toEqual([]);
  expect(await erase(opened, { ledger, confirm: 2 })).toMatchObject({ erased: true, count: 2 });
  expect(await findWords(copy, WORDS)).toEqual([]);
  const reasons = [...(opened.erasures?.ledger().orders.values() ?? [])].map(({ reason }) => reason);
  expect(reasons).toEqual(ids.map((documentId) => `for ${documentId}`));
  // A later restore of a newer state needs the erasure that this one knew nothing of.
  expect(ledgerOf(copy)).toEqual(expect.arrayContaining(ledger));
  expect(await erase(opened, { ledger })).toEqual({ erased: false, documents: [], count: 0 });
  expect(await erase(opened, { ledger, confirm: 0 })).toEqual({ erased: true, documents: [], count: 0 });
});

it('a request with a ledger names nothing else', async () => {
  const data = dataForTest();
  const varve = await openInProcess(data);
  onTestFinished(() => varve.close());
  for (const more of [{ type: TAG }, { documentId: 'x' }, { where: 'filters[name]=a' }, { reason: 'asked' }])
    await expect(erase(varve, { ledger: [], ...more })).rejects.toThrow('ledger names the documents');
  await expect(erase(varve, { documentId: 'x' })).rejects.toThrow('Name type or ledger');
});

it('refuses a document of a content type that is not served', async () => {
  const data = dataForTest();
  await openInProcess(data).then((varve) => varve.close());
  const [type, documentId] = ['api::gone.gone', 'gone1'];
  const at = new Date().toISOString();
  const log = openSqliteEventStore(join(data, 'events.db'), { space: SPACE, decode: upcast });
  const { epoch } = await readLease(log, SPACE);
  const append = (stream: string, event: VarveEvent) =>
    log.append(stream, 'any', [newEvent(event, { at, epoch })]);
  await append(definitionStream(SPACE, type), definition(type, GONE));
  await append(documentStream(SPACE, type, documentId), created(type, documentId, { values: { name: 'a' } }));
  await log.close();
  const varve = await openInProcess(data);
  onTestFinished(() => varve.close());
  const line = { id: 'order', type, documentId, reason: null, at };
  expect(await erase(varve, { ledger: [line] })).toMatchObject({ erased: false, count: 1 });
  await expect(erase(varve, { ledger: [line], confirm: 1 })).rejects.toThrow(
    `gone1 cannot be erased while its content type ${type} is not served: serve it, then erase`,
  );
});

it('a ledger of many documents lets the thread do something else meanwhile', async () => {
  const data = dataForTest();
  const varve = await openInProcess(data);
  onTestFinished(() => varve.close());
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  onTestFinished(() => clearInterval(timer));
  const at = new Date().toISOString();
  const ledger = Array.from({ length: 3_000 }, (_, n) => ({
    id: `o${n}`,
    type: TAG,
    documentId: `d${n}`,
    reason: null,
    at,
  }));
  await erase(varve, { ledger });
  expect(turns).toBeGreaterThan(10);
  await erase(varve, { ledger, confirm: 0 });
  noteErasures(data, ledger);
  expect(ledgerOf(data)).toEqual(ledger);
});
