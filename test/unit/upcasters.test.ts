import { expect, test } from 'vitest';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import { createUpcast, upcast } from '../../shared/events/upcasters.ts';

const stored = (schemaVersion: number, type = 'entry-created', data: unknown = { name: 'Ada' }) => ({
  type,
  data,
  metadata: { schemaVersion, at: '2026-03-04T05:06:07.089Z', epoch: 3 },
});

const chains = {
  'entry-created': {
    1: (data: unknown) => ({ ...(data as object), second: true }),
    2: (data: unknown) => [data],
  },
  'entry-deleted': { 1: () => ({}) },
};
const versions = { 'entry-created': 3, 'entry-deleted': 2, 'entry-changed': 1 };

test('a current event is not changed', () => {
  for (const [type, version] of Object.entries(EVENT_VERSIONS)) {
    const event = stored(version, type);
    expect(upcast(event)).toBe(event);
  }
});

test('an old event is converted through every version of its type up to the current one, with its metadata', () => {
  const toCurrent = createUpcast(chains, versions);
  expect(toCurrent(stored(1))).toEqual(stored(3, 'entry-created', [{ name: 'Ada', second: true }]));
  expect(toCurrent(stored(2))).toEqual(stored(3, 'entry-created', [{ name: 'Ada' }]));
  expect(toCurrent(stored(1, 'entry-deleted'))).toEqual(stored(2, 'entry-deleted', {}));
  expect(toCurrent(stored(1, 'entry-changed'))).toEqual(stored(1, 'entry-changed'));
});

test('every type has its own versions: a newer version, and an unknown type, is marked with its reason', () => {
  const toCurrent = createUpcast(chains, versions);
  expect(toCurrent(stored(3)).unreadable).toBeUndefined();
  expect(toCurrent(stored(3, 'entry-deleted'))).toEqual({
    ...stored(3, 'entry-deleted'),
    unreadable: {
      kind: 'newer-version',
      reason:
        'it is a "entry-deleted" of version 3, and this program knows versions up to 2: a newer version of Varve wrote it',
    },
  });
  expect(toCurrent(stored(1, 'entry-archived'))).toEqual({
    ...stored(1, 'entry-archived'),
    unreadable: {
      kind: 'unknown-type',
      reason: '"entry-archived" is an unknown type of event: a newer version of Varve wrote it',
    },
  });
});

test('names of built-in properties are not types of events', () => {
  for (const type of ['constructor', '__proto__', 'toString'])
    expect(upcast(stored(1, type)).unreadable?.kind).toBe('unknown-type');
});

test('data that is not an object is damage', () => {
  for (const data of [null, 'text', 7, true])
    expect(upcast(stored(1, 'entry-created', data)).unreadable?.kind).toBe('damaged');
});
