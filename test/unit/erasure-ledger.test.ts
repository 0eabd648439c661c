import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { noteErasures, readErasures } from '../../services/erasure/erasure-file.ts';
import { readLedger } from '../../services/erasure/erasure-ledger.ts';
import { type ErasureEvent, erasureStream } from '../../shared/erasure/erasure-events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { dataForTest } from '../support/data-for-test.ts';

const COUNT = 20_000;
const TAG = 'api::tag.tag';

/** Returns the events of this many erasures. */
function erasures(): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  const add = (event: ErasureEvent) => {
    const at = BigInt(events.length);
    const stored = newEvent(event, { at: '2026-01-01T00:00:00.000Z', epoch: 1 });
    events.push({
      ...stored,
      stream: erasureStream('varve'),
      revision: at,
      position: at + 1n,
    } as StoredEvent);
    return stored.id;
  };
  for (let n = 0; n < COUNT; n++) {
    const document = { type: TAG, documentId: `d${n}` } as const;
    const order = add({ type: 'erasure-ordered', data: { ...document, reason: null } });
    add({ type: 'document-erased', data: { ...document, order, events: [] } });
  }
  return events;
}

it('reads and notes 20,000 erasures in a time that does not grow with their square', async () => {
  const events = erasures();
  const stream = async function* () {
    yield* events;
  };
  const { orders, erased, revision } = await readLedger({ readStream: stream }, 'varve');
  expect([orders.size, erased.length, revision]).toEqual([COUNT, COUNT, BigInt(2 * COUNT - 1)]);
  const data = dataForTest();
  const all = [...orders.values()];
  noteErasures(data, all.slice(0, -1));
  noteErasures(data, all);
  const file = join(data, 'erasures.jsonl');
  expect(readErasures(file).map(({ id }) => id)).toEqual([...orders.keys()]);
  const text = readFileSync(file, 'utf8');
  noteErasures(data, all);
  expect(readFileSync(file, 'utf8')).toBe(text);
}, 20_000);
