import { expect, test } from 'vitest';
import { EVENT_SCHEMA_VERSION } from '../../shared/document/events.ts';
import { createUpcast, upcast } from '../../shared/document/upcasters.ts';

const stored = (schemaVersion: number, type = 'entry-created', data: unknown = { name: 'Ada' }) => ({
  type,
  data,
  metadata: { schemaVersion, at: '2026-03-04T05:06:07.089Z', epoch: 3, actor: 'someone' },
});

const chain = {
  1: { 'entry-created': (data: unknown) => ({ ...(data as object), second: true }) },
  2: { 'entry-created': (data: unknown) => [data], 'entry-deleted': () => null },
};

test('a current event comes back as it is', () => {
  const event = stored(EVENT_SCHEMA_VERSION);
  expect(upcast(event)).toBe(event);
});

test('an old event goes through every version up to the current one, its metadata with it', () => {
  const toThree = createUpcast(chain, 3);
  expect(toThree(stored(1))).toEqual(stored(3, 'entry-created', [{ name: 'Ada', second: true }]));
  expect(toThree(stored(2))).toEqual(stored(3, 'entry-created', [{ name: 'Ada' }]));
  expect(toThree(stored(1, 'entry-deleted'))).toEqual(stored(3, 'entry-deleted', null));
  expect(toThree(stored(1, 'entry-changed'))).toEqual(stored(3, 'entry-changed'));
});

test('a newer version, and one that never was, is refused', () => {
  expect(() => upcast(stored(3))).toThrow(
    'the "entry-created" event has schema version 3, this program knows versions up to 2: it was written by a newer version of Varve',
  );
  for (const version of [0, -1, 0.5, Number.NaN, undefined as unknown as number, '1' as unknown as number]) {
    expect(() => upcast(stored(version))).toThrow(/no known schema version/);
  }
});
