import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  inOrder,
  metadataAsStrings,
  notJson,
  readMetadata,
  withServerNames,
} from '../../shared/event-store/event-metadata.ts';
import type { EventMetadata } from '../../shared/event-store/event-store.ts';

const FACTS = { schemaVersion: 2, at: '2026-03-04T05:06:07.089Z', epoch: 3 } as const;

const text = fc.oneof(fc.string(), fc.constantFrom('12', 'true', 'null', '{"a":1}', '"quoted"', ''));
const metadata: fc.Arbitrary<EventMetadata> = fc.record(
  {
    schemaVersion: fc.integer({ min: 1, max: 9 }),
    at: text,
    epoch: fc.nat(),
    actor: fc.record({ kind: fc.constant('token' as const), id: text, name: text }),
    via: text,
    correlationId: text,
    traceId: text,
    causationId: text,
    command: fc.record({ id: text, request: text }, { requiredKeys: ['id'] }),
  },
  { requiredKeys: ['schemaVersion', 'at', 'epoch'] },
);

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('the typed and the all-strings form of any metadata are read to the same text', () => {
  fc.assert(
    fc.property(metadata, fc.boolean(), (given, isReversed) => {
      const written = inOrder(given) as EventMetadata;
      const strings = metadataAsStrings(written);
      expect(Object.values(strings).every((value) => typeof value === 'string')).toBe(true);
      // A server may store the entries in another order.
      const entries = Object.entries(strings);
      const kept = Object.fromEntries(isReversed ? entries.reverse() : entries);
      const forms = [written, withServerNames(written), { ...kept, '$schema.name': 'entry-created' }];
      const texts = forms.map((form) => JSON.stringify(readMetadata(throughJson(form))));
      expect(new Set(texts)).toEqual(
        new Set([JSON.stringify({ kind: 'read', metadata: inOrder(throughJson(given) as never) })]),
      );
    }),
    { numRuns: 500 },
  );
});

test('a key of a later release is kept in both forms', () => {
  const given = { ...FACTS, later: { a: [1] }, laterText: 'x', digest: '12' } as EventMetadata;
  for (const form of [withServerNames(given), metadataAsStrings(given)])
    expect(readMetadata(form)).toEqual({ kind: 'read', metadata: given });
});

describe('the program that wrote an event is known from its metadata alone', () => {
  const foreign = [
    ...[undefined, null, 7, 'text', true, [], [FACTS], {}],
    ...[{ schemaVersion: 1 }, { at: 'noon' }, { epoch: 4 }, { user: 'else', $correlationId: 'c' }],
    ...[notJson(''), notJson('\u0000\u0001'), notJson('{"schemaVersion":1'), notJson('<at/>')],
  ];
  test.each(foreign.map((value) => [value]))("somebody else's: %j", (value) => {
    const read = readMetadata(value);
    expect(read).toMatchObject({ kind: 'unreadable', unreadable: { kind: 'foreign' } });
  });

  const damaged: readonly [unknown, RegExp][] = [
    [{ schemaVersion: 1, at: 'x' }, /"epoch"/],
    [{ at: 'x', epoch: 1 }, /"schemaVersion"/],
    [{ schemaVersion: 1, epoch: 1 }, /"at"/],
    [{ ...FACTS, schemaVersion: 0 }, /"schemaVersion"/],
    [{ ...FACTS, schemaVersion: 1.5 }, /"schemaVersion"/],
    [{ ...FACTS, schemaVersion: null }, /"schemaVersion"/],
    [{ ...FACTS, schemaVersion: 'x' }, /"schemaVersion"/],
    [{ ...FACTS, at: 7 }, /"at"/],
    [{ ...FACTS, epoch: -1 }, /"epoch"/],
    [{ ...FACTS, epoch: '3' }, /"epoch"/],
    [{ ...FACTS, epoch: 2 ** 60 }, /"epoch"/],
    [{ ...FACTS, command: 'x' }, /"command"/],
    [{ ...FACTS, command: { id: 7 } }, /"command"/],
    [notJson('{"schemaVersion":1,"at":"2026","epoch":'), /not JSON/],
  ];
  test.each(damaged)("Varve's, and damaged: %j", (value, reason) => {
    expect(readMetadata(value)).toMatchObject({
      kind: 'unreadable',
      unreadable: { kind: 'damaged', reason: expect.stringMatching(reason) },
    });
  });
});

test('any form of an author is accepted, since it has no effect', () => {
  for (const actor of ['token:7', 7, null, { kind: 'webhook' }])
    expect(readMetadata({ ...FACTS, actor, via: 7 })).toMatchObject({ kind: 'read' });
});
