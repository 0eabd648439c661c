import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { progressInHistory } from '../../services/elasticsearch/progress-in-history.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import type { IndexProgress } from '../../shared/read-index/index-progress.ts';
import { newEvents } from '../contract/event-store-fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-history-'));

/** Opens a log with so many events, whose history no other log has. */
const openLog = async (name: string, events: number) => {
  const log = openSqliteEventStore(join(folder, name), { space: 'varve' });
  onTestFinished(log.close);
  await log.append('varve.note-1', 'none', newEvents(events));
  return log;
};
const memory = () => {
  const written: IndexProgress[] = [];
  return {
    read: async () => written.at(-1),
    write: async (progress: IndexProgress) => void written.push(progress),
  };
};
const at = (position: bigint): IndexProgress => ({ epoch: 1, position, parked: [] });

test('progress is used by processes of its history only, until a leader of theirs publishes', async () => {
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [lost, restored] = [await openLog('lost', 7), await openLog('restored', 9)];
  const store = memory();
  const [leader, reader] = [progressInHistory(store, lost), progressInHistory(store, restored)];
  expect([await reader.read(), await reader.isOther()]).toEqual([undefined, false]);
  await leader.write(at(7n));
  expect(await leader.read()).toMatchObject(at(7n));
  expect([await leader.isOther(), await reader.isOther(), await reader.read()]).toEqual([
    false,
    true,
    undefined,
  ]);
  const next = progressInHistory(store, restored);
  await next.write(at(8n));
  expect([await reader.isOther(), await leader.isOther()]).toEqual([false, true]);
  expect(await reader.read()).toMatchObject(at(8n));
  // An earlier release names no history: only a position that the log does not reach is that of another one.
  await store.write(at(9n));
  expect([await next.isOther(), await leader.isOther()]).toEqual([false, true]);
  await store.write(at(0n));
  expect([await next.isOther(), await leader.isOther()]).toEqual([false, false]);
});
