import { afterEach, expect, test } from 'vitest';
import { createLogTimes } from '../../services/past/log-times.ts';
import { createMoments } from '../../services/past/moments.ts';
import type { NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { newEvents } from '../contract/event-store-fixtures.ts';
import { type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

/** Positions of KurrentDB are offsets in its files, and its server reads only from positions where a record begins. */
const FIRST = Date.parse('2026-01-01T00:00:00.000Z');
const SECOND = 1_000;
const EVENTS = 1_400;

let world: KurrentDbWorld;
afterEach(() => world.end());

function eventsAt(from: number, count: number): readonly NewEvent[] {
  return newEvents(count).map((event, n) => ({
    ...event,
    metadata: { ...event.metadata, at: new Date(FIRST + (from + n) * SECOND).toISOString() },
  }));
}

test('an instant and the time of a position are found on KurrentDB, and the log is searched once', async () => {
  world = await startWorld();
  const { store, double } = world;
  const streams = [streamOf(), streamOf()] as const;
  for (let n = 0; n < EVENTS; n += 200) {
    await store.append(streams[(n / 200) % 2] as string, 'any', eventsAt(n, 200));
    double.log.addForeign(50);
  }
  const events: StoredEvent[] = [];
  for await (const event of rawEvents(store, 0n)) events.push(event);
  expect(events).toHaveLength(EVENTS);
  const now = () => FIRST + 10 * EVENTS * SECOND;
  const sampled = events.filter((_, n) => n % 500 === 0).map((event) => ({ ...event, chain: undefined }));
  for (const samples of [[], sampled]) {
    const moments = createMoments(
      store,
      createLogTimes(store, () => samples),
      now,
    );
    const find = (text: string) => moments.find([`asOf=${text}`], true);
    for (const n of [EVENTS - 1, 0, 1_250, 700]) {
      const { position } = events[n] as StoredEvent;
      const expected = { position, at: new Date(FIRST + n * SECOND) };
      expect(await find(new Date(FIRST + n * SECOND + 999).toISOString())).toEqual(expected);
      expect(await find(String(position))).toEqual(expected);
      // A position where no record begins.
      expect((await find(String(position + 1n))).at).toEqual(expected.at);
      expect(await moments.nearest(FIRST + n * SECOND)).toEqual(expected);
    }
    await expect(find(new Date(FIRST - 1).toISOString())).rejects.toMatchObject({ code: 'invalid-query' });
    expect((await moments.nearest(0)).position).toBe(events[0]?.position);
    expect((await moments.nearest(undefined)).at).toEqual(new Date(FIRST + (EVENTS - 1) * SECOND));
    // The marks of earlier searches shorten later ones.
    const before = double.observed.scanned;
    await find(new Date(FIRST + 1_300 * SECOND).toISOString());
    expect(double.observed.scanned - before).toBeLessThan(EVENTS);
  }
});
