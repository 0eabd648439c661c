import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDualWrite } from '../../services/elasticsearch/dual-write.ts';
import type { DocumentRow, Neighbours } from '../../shared/read-index/document-index.ts';
import { createMemoryDocumentIndex } from '../support/memory-document-index.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const NEIGHBOURS: Neighbours = { linked: () => [], row: () => undefined };
const FOR_MS = 4_000;

function open() {
  const [next, earlier] = ['next', 'earlier'].map((name) =>
    createMemoryDocumentIndex(({ key, position }) => `${name} ${key} at ${position}`),
  );
  if (next === undefined || earlier === undefined) throw new Error('two were made');
  const index = createDualWrite(next);
  const write = async (key: number, position: bigint) => {
    const row: DocumentRow = { type: 'api::a.a', world: 'draft', key, position };
    const documents = [index.present(row, NEIGHBOURS)];
    const outcomes = await index.write(documents, { refresh: true });
    index.release(documents);
    return outcomes;
  };
  return { next, earlier, index, write };
}

it('also writes documents in the earlier form to the earlier index, until the end of that time', async () => {
  const { next, earlier, index, write } = open();
  await write(1, 1n);
  expect(earlier.visible.size).toBe(0);
  index.alsoWrite(earlier, FOR_MS);
  expect(await write(2, 2n)).toEqual([{ kind: 'written' }]);
  expect([...earlier.visible.values()]).toEqual(['earlier 2 at 2']);
  vi.advanceTimersByTime(FOR_MS + 1);
  await write(3, 3n);
  expect([...earlier.visible.values()]).toEqual(['earlier 2 at 2']);
  expect([...next.visible.values()]).toEqual(['next 1 at 1', 'next 2 at 2', 'next 3 at 3']);
});

it('counts a document as written when both indices have it, or the earlier one never will', async () => {
  const { earlier, index, write } = open();
  index.alsoWrite(earlier, FOR_MS);
  earlier.behave({ outcome: () => ({ kind: 'again', reason: 'busy' }) });
  expect(await write(1, 1n)).toEqual([{ kind: 'again', reason: 'busy' }]);
  earlier.behave({ outcome: () => ({ kind: 'refused', reason: 'never' }) });
  expect(await write(1, 1n)).toEqual([{ kind: 'written' }]);
  earlier.behave({ fails: () => new Error('away') });
  await expect(write(2, 2n)).rejects.toThrow('away');
});

it('refreshes both', async () => {
  const { earlier, index } = open();
  index.alsoWrite(earlier, FOR_MS);
  const row: DocumentRow = { type: 'api::a.a', world: 'draft', key: 1, position: 1n };
  await index.write([index.present(row, NEIGHBOURS)], { refresh: false });
  expect(earlier.visible.size).toBe(0);
  await index.refresh();
  expect(earlier.visible.size).toBe(1);
});

it('counts documents that were made for the previous index as not written', async () => {
  const { next, earlier, index } = open();
  const row: DocumentRow = { type: 'api::a.a', world: 'draft', key: 1, position: 1n };
  const made = [index.present(row, NEIGHBOURS)];
  const again = [{ kind: 'again', reason: 'its index is made again' }];
  const writing = index.write(made, { refresh: true });
  index.retarget(earlier);
  expect(await writing).toEqual(again);
  expect(await index.write(made, { refresh: true })).toEqual(again);
  expect(earlier.visible.size).toBe(0);
  expect(await index.write([index.present(row, NEIGHBOURS)], { refresh: true })).toEqual([
    { kind: 'written' },
  ]);
  expect([...earlier.visible.values()]).toEqual(['earlier 1 at 1']);
  expect(next.visible.size).toBe(1);
});
