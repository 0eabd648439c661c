import { expect, it } from 'vitest';
import { parseSchedule } from '../../services/releases/parse-schedule.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const parse = (text: string, zone: string | null = null) => parseSchedule(text, zone, { at: 'at', now });

it.each([
  ['2026-12-24T08:00:00+01:00', null, '2026-12-24T07:00:00.000Z'],
  ['2026-12-24T08:00Z', 'Europe/Berlin', '2026-12-24T08:00:00.000Z'],
  ['2026-12-24T08:00:00.123456789Z', null, '2026-12-24T08:00:00.123Z'],
  ['2026-12-24T08:00', 'Europe/Berlin', '2026-12-24T07:00:00.000Z'],
  ['2026-07-24T08:00', 'Europe/Berlin', '2026-07-24T06:00:00.000Z'],
  ['2026-07-24T08:00', 'UTC+02:00&Europe/Berlin', '2026-07-24T06:00:00.000Z'],
  ['2026-07-24', 'Europe/Berlin', '2026-07-23T22:00:00.000Z'],
  // The hours before and after the clocks change.
  ['2026-03-29T01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59.000Z'],
  ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25T01:59:59', 'Europe/Berlin', '2026-10-24T23:59:59.000Z'],
  ['2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
  ['2026-10-25T02:30+02:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
])('%s in %s is %s', (text, zone, scheduledAt) => {
  expect(parse(text, zone)).toEqual({ scheduledAt, timezone: zone });
});

it.each([
  [
    '2026-03-29T02:30',
    'Europe/Berlin',
    'does not exist in Europe/Berlin, because the clock changes: send 2026-03-29T01:30:00+01:00 or 2026-03-29T03:30:00+02:00',
  ],
  [
    '2026-10-25T02:30',
    'Europe/Berlin',
    'exists twice in Europe/Berlin, because the clock changes: send 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00',
  ],
  ['2025-12-31T23:59:59Z', null, 'must be later than now, got "2025-12-31T23:59:59Z"'],
  [
    '2026-02-30T08:00Z',
    null,
    'must be an instant such as 2026-12-24T08:00:00+01:00, got "2026-02-30T08:00Z"',
  ],
  // The last local times are later than the last instant.
  [
    '+275760-09-13T12:00',
    'UTC',
    'must be an instant such as 2026-12-24T08:00:00+01:00, got "+275760-09-13T12:00"',
  ],
  ['+012026-01-01T08:00Z', null, 'must be before the year 10000, got "+012026-01-01T08:00Z"'],
  ['', 'Europe/Berlin', 'must be an instant such as 2026-12-24T08:00:00+01:00, got ""'],
])('%s in %s: %s', (text, zone, message) => {
  expect(parse(text, zone)).toEqual({ path: 'at', message });
});

it.each(['Mars/Base', '', 'x&'])('%j is not a time zone', (zone) => {
  expect(parse('2026-12-24T08:00', zone)).toMatchObject({ path: 'timezone' });
});
