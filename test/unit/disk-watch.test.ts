import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDiskWatch } from '../../services/process/disk-watch.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';

const FULL = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns a watch, and a log whose appends end as `append` says. */
function watched(append: () => Promise<unknown>) {
  const watch = createDiskWatch(() => {});
  const log = watch.watchAppends({ append } as unknown as EventStore);
  return { watch, write: () => log.append('stream', 'any', []).then(String, String) };
}

it('reports a full log for 30 seconds after the last refused write, because nothing else tells when there is space', async () => {
  const { watch, write } = watched(() => Promise.reject(FULL));
  expect(watch.fullDisk()).toBeUndefined();
  await write();
  vi.advanceTimersByTime(29_000);
  expect(watch.fullDisk()).toBe('the event log');
  await write();
  vi.advanceTimersByTime(29_000);
  expect(watch.fullDisk()).toBe('the event log');
  vi.advanceTimersByTime(1_000);
  expect(watch.fullDisk()).toBeUndefined();
});

it('reports space as soon as a write is stored', async () => {
  const outcomes = [Promise.reject(FULL), Promise.resolve({ kind: 'appended' })];
  const { watch, write } = watched(() => outcomes.shift() as Promise<unknown>);
  await write();
  expect(watch.fullDisk()).toBe('the event log');
  await write();
  expect(watch.fullDisk()).toBeUndefined();
});

it('refuses writes while the graph waits, and while the lease cannot be claimed', () => {
  const { watch } = watched(() => Promise.resolve());
  watch.graphWaits(FULL);
  expect(watch.refuseWrites).toThrow('the disk of the content graph is full');
  watch.graphWaits(undefined);
  expect(watch.refuseWrites).not.toThrow();
  watch.heard({ kind: 'unclaimed', reason: FULL });
  expect(watch.refuseWrites).toThrow('the disk of the event log is full');
  watch.heard({ kind: 'leading', epoch: 2 });
  expect(watch.refuseWrites).not.toThrow();
});
