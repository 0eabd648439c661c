import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLagView, measureLag } from '../../../services/operating/projection-lag.ts';
import { createReadinessCheck } from '../../../services/operating/readiness.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');

it('starts, then depends on the lag, then drains', async () => {
  const readiness = createReadinessCheck(30);
  expect(await readiness.check()).toMatchObject({ status: 'unavailable', reason: 'starting' });
  let lag = 30;
  readiness.serving(async () => lag);
  expect(await readiness.check()).toEqual({ status: 'ready' });
  lag = 31;
  expect(await readiness.check()).toEqual({
    status: 'unavailable',
    reason: 'lagging',
    message: 'Reads lag 31 s behind the event log',
  });
  readiness.draining();
  expect(await readiness.check()).toMatchObject({ reason: 'draining' });
});

it('is not ready while the first copy is incomplete', async () => {
  const readiness = createReadinessCheck(30);
  let isCopying = true;
  readiness.copying(() => isCopying);
  readiness.serving(async () => 0);
  expect(await readiness.check()).toMatchObject({ status: 'unavailable', reason: 'copying' });
  isCopying = false;
  expect(await readiness.check()).toEqual({ status: 'ready' });
});

it('is not ready when the log does not answer, or answers with an error', async () => {
  const failing = createReadinessCheck(30);
  failing.serving(() => Promise.reject(new Error('gone')));
  expect(await failing.check()).toMatchObject({ reason: 'log-unreachable' });
  const silent = createReadinessCheck(30);
  silent.serving(() => new Promise(() => {}));
  expect(await silent.check()).toMatchObject({ reason: 'log-unreachable' });
});

it('measures the lag of a position: its events, and the age of the first', async () => {
  const log = openLog();
  const positions: bigint[] = [];
  for (let i = 0; i < 3; i++) positions.push(await appendAt(log, i, START + i * 1_000));
  const now = () => START + 10_000;
  expect(await measureLag(log, positions[2]!, now)).toEqual({ events: 0, seconds: 0 });
  expect(await createLagView(log, () => positions[2]!, now).seconds()).toBe(0);
  expect(await measureLag(log, positions[1]!, now)).toEqual({ events: 1, seconds: 8 });
  expect(await measureLag(log, 0n, now)).toEqual({ events: 3, seconds: 10 });
  expect(await createLagView(log, () => 0n, now).seconds()).toBe(10);
});

it('counts a writer whose clock is ahead as caught up', async () => {
  const log = openLog();
  await appendAt(log, 0, START + 5_000);
  expect(await measureLag(log, 0n, () => START)).toEqual({ events: 1, seconds: 0 });
});

it('counts events up to a limit', async () => {
  const log = openLog();
  await log.append(
    'varve.s-0',
    'none',
    Array.from({ length: 5_200 }, (_, i) => eventAt(i, START)),
  );
  expect((await measureLag(log, 0n, () => START)).events).toBe(5_000);
});

function openLog(): EventStore {
  const folder = mkdtempSync(join(tmpdir(), 'varve-lag-'));
  const log = openSqliteEventStore(join(folder, 'events.db'), { space: 'varve' });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true });
  });
  return log;
}

function eventAt(i: number, time: number) {
  const id = `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`;
  const metadata = { schemaVersion: 1, at: new Date(time).toISOString(), epoch: 0 };
  return { id, type: 'happened', data: {}, metadata };
}

async function appendAt(log: EventStore, i: number, time: number): Promise<bigint> {
  const result = await log.append(`varve.s-${i}`, 'none', [eventAt(i, time)]);
  if (result.kind !== 'appended') throw new Error('conflict');
  return result.position;
}
