import fc from 'fast-check';
import { expect, it } from 'vitest';
import { randomDocumentId } from '../../services/command/document-id.ts';
import { newCommandKey } from '../../services/command/new-command-key.ts';
import { newEvents } from '../../services/command/new-events.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';

const event: DocumentEvent = {
  type: 'entry-deleted',
  data: { type: 'api::page.page', documentId: 'a', locale: null },
};
const metadata = { at: '2026-03-04T05:06:07.089Z', epoch: 0 };
const idsOf = (key: string, count = 3) =>
  newEvents(
    Array.from({ length: count }, () => event),
    key,
    metadata,
  ).map(({ id }) => id);

it('gives equal keys equal ids, and other keys other ids: UUIDs of version 8', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.uuid(), fc.uuid({ version: 7 })), fc.string(), (key, suffix) => {
      const ids = idsOf(key);
      expect(idsOf(key)).toEqual(ids);
      expect(new Set([...ids, ...idsOf(`${key}${suffix}!`)]).size).toBe(6);
      for (const id of ids)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }),
  );
});

it('puts ids of commands in order of the time in their keys', () => {
  const early = '01a1ff1f-0950-7797-92a2-e29652f8b522';
  const late = '01a1ff1f-0951-7000-8000-000000000000';
  expect([...idsOf(late), ...idsOf(early)].sort().slice(0, 3)).toEqual(idsOf(early).sort());
  expect(idsOf(early).every((id) => id.startsWith('01a1ff1f-0950-8'))).toBe(true);
});

it('never makes a key or a documentId twice', () => {
  const count = 5_000;
  expect(new Set(Array.from({ length: count }, newCommandKey)).size).toBe(count);
  const documentIds = Array.from({ length: count }, randomDocumentId);
  expect(new Set(documentIds).size).toBe(count);
  expect(documentIds.every((id) => /^[a-z][a-z0-9]{23}$/.test(id))).toBe(true);
});
