import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askedPast, parseAsOf } from '../../services/past/as-of.ts';
import { createFindPreview } from '../../services/past/find-preview.ts';
import { createLogTimes } from '../../services/past/log-times.ts';
import { createMoments } from '../../services/past/moments.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { dataForTest } from '../support/data-for-test.ts';

const FIRST = Date.parse('2026-01-01T00:00:00.000Z');
const SECOND = 1_000;

it('finds the last event up to an instant, also between events of another namespace', async () => {
  const file = join(dataForTest(), 'events.db');
  const [log, other] = [
    openSqliteEventStore(file, { space: 'varve' }),
    openSqliteEventStore(file, { space: 'other' }),
  ];
  const append = async (store: typeof log, space: string, at: number) => {
    const metadata = { schemaVersion: 1, at: new Date(at).toISOString(), epoch: 0 };
    const event = { id: randomUUID(), type: 'entry-changed', data: {}, metadata };
    const result = await store.append(`${space}.note-1`, 'any', [event]);
    return result.kind === 'appended' ? result.position : 0n;
  };
  const positions: bigint[] = [];
  for (let i = 0; i < 100; i++) {
    positions.push(await append(log, 'varve', FIRST + i * SECOND));
    for (let more = i % 4; more > 0; more--) await append(other, 'other', FIRST);
  }
  const now = () => FIRST + 1_000 * SECOND;
  const moments = createMoments(
    log,
    createLogTimes(log, () => []),
    now,
  );
  const find = (asOf: string) => moments.find([`asOf=${asOf}`], true);
  for (let i = 0; i < 100; i++)
    for (const ms of [0, 999])
      expect((await find(new Date(FIRST + i * SECOND + ms).toISOString())).position).toBe(positions[i]);
  const between = (positions[3] as bigint) + 1n;
  expect(await find(String(between))).toEqual({ position: between, at: new Date(FIRST + 3 * SECOND) });
  const refused = (found: string, message: RegExp) =>
    expect(find(found)).rejects.toMatchObject({
      code: 'invalid-query',
      message: expect.stringMatching(message),
      details: { param: 'asOf', found, accepted: expect.any(String) },
    });
  await refused('0', /no position 0/);
  await refused(String((await log.lastPosition()) + 1n), /no position/);
  await refused('2025-12-31T23:59:59.999Z', /no event of that time or before/);
  await refused('2026-01-02T00:00:00+00:00', /in the future/);
  // Previews are for callers who may see drafts, and name the last release that is due.
  const due = (until: number) => [FIRST + 1_500 * SECOND, FIRST + 2_000 * SECOND].filter((at) => at <= until);
  let time = now();
  const preview = createFindPreview({ log, due, now: () => time });
  const times = createLogTimes(log, () => []);
  const withPreviews = createMoments(log, times, now, preview);
  const asked = (seconds: number) => [`asOf=${new Date(FIRST + seconds * SECOND).toISOString()}`];
  const position = await log.lastPosition();
  await expect(withPreviews.find(asked(2_000), false)).rejects.toThrow('asOf is in the future');
  expect(await withPreviews.find(asked(1_001), true)).toEqual({ position, until: 0 });
  for (const seconds of [1_500, 1_999])
    expect(await withPreviews.find(asked(seconds), true)).toEqual({ position, until: due(Infinity)[0] });
  // The content is that of some seconds ago at most.
  const later = await append(log, 'varve', FIRST);
  expect(await withPreviews.find(asked(3_000), true)).toEqual({ position, until: due(Infinity)[1] });
  time += 6 * SECOND;
  expect(await withPreviews.find(asked(3_000), true)).toEqual({ position: later, until: due(Infinity)[1] });
  await Promise.all([log.close(), other.close()]);
});

it('reads the parameter wherever it is in the address', () => {
  expect(askedPast('/api/dishes?sort=name')).toBeUndefined();
  expect(askedPast('/api/dishes?filters[name]=asOf=1')).toBeUndefined();
  expect(askedPast('/api/dishes?asOfX=1')).toBeUndefined();
  expect(askedPast('/api/dishes?asOf=7')).toEqual({ given: ['asOf=7'], url: '/api/dishes' });
  expect(askedPast('/api/dishes?a=?&asOf=7&b=2')).toEqual({ given: ['asOf=7'], url: '/api/dishes?a=?&b=2' });
  expect(parseAsOf(['asOf=7'])).toEqual({ kind: 'position', position: 7n });
  const at = Date.parse('2026-03-01T11:00:00Z');
  // A plus sign that is not encoded stays one.
  for (const text of ['2026-03-01T12:00:00+01:00', '2026-03-01T12%3A00%3A00%2B01%3A00'])
    expect(parseAsOf([`asOf=${text}`])).toEqual({ kind: 'instant', at });
  for (const text of [
    '',
    'now',
    '-1',
    '1.5',
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-02-30T12:00:00Z',
    '%',
  ])
    expect(() => parseAsOf([`asOf=${text}`])).toThrow("Invalid parameter at 'asOf'");
  for (const given of [['asOf=1', 'asOf=2'], ['asOf[]=1'], ['asOf']])
    expect(() => parseAsOf(given)).toThrow("Invalid parameter at 'asOf'");
});
