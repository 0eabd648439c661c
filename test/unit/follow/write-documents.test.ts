import { expect, it } from 'vitest';
import { readRow, readStamp } from '../../../services/follow/rest-row.ts';
import type { Source } from '../../../services/follow/source.ts';
import { createDocumentCopier } from '../../../services/follow/write-documents.ts';
import { createImportNotes } from '../../../services/strapi/import-notes.ts';
import type { Entry } from '../../../shared/document/entry.ts';
import type { RecordedRows } from '../../../shared/document/recorded-rows.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { schemasOf } from '../command-world.ts';

const { registry } = schemasOf({ tag: { attributes: { name: { type: 'string' } } } });
const tag = contentTypeOf(registry, 'api::tag.tag');
const AT = '2026-01-01T00:00:00.000Z';

const stored = (documentId: string, id: number): Entry => ({
  ...{ key: id, id, type: tag.uid, documentId, locale: null, version: 'live' },
  ...{ values: { name: 'old' }, createdAt: AT, updatedAt: AT, publishedAt: AT },
});

it('refuses rows without the times that show a change, which Strapi omits if they are private', () => {
  const row = { id: 3, documentId: 'a', updatedAt: AT, publishedAt: AT };
  for (const name of ['updatedAt', 'publishedAt'])
    expect(() => readStamp(tag, 'live', 'en', { ...row, [name]: undefined })).toThrow(
      new RegExp(`${tag.uid} without .*${name}`),
    );
});

it('writes the documents that were asked for after those that they changed', async () => {
  const row = { id: 3, documentId: 'asked', name: 'new', createdAt: AT, updatedAt: AT, publishedAt: AT };
  const found = readRow(tag, readStamp(tag, 'live', 'en', row), row, 'draft');
  const source: Partial<Source> = {
    documents: async (_type, ids) => (ids.includes('asked') ? [found] : []),
  };
  const recorded: Partial<RecordedRows> = {
    links: () => [],
    owners: () => [{ type: tag.uid, documentId: 'owner' }],
  };
  const written: string[] = [];
  const copier = createDocumentCopier({
    registry,
    source: source as Source,
    recorded: recorded as RecordedRows,
    entries: (_type, documentId) => [stored(documentId, documentId === 'asked' ? 1 : 2)],
    writer: { write: async ({ documentId }) => void written.push(documentId) },
    notes: createImportNotes(),
    takeFile: async () => {},
    dropFile: async () => {},
  });
  await copier.write([{ type: tag.uid, documentId: 'asked' }]);
  expect(written).toEqual(['owner', 'asked']);
});

it('names a document that nests too deep, and writes the others', async () => {
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;
  const rowOf = (documentId: string, id: number, name: unknown) => {
    const row = { id, documentId, name, createdAt: AT, updatedAt: AT, publishedAt: AT };
    return readRow(tag, readStamp(tag, 'live', 'en', row), row, 'draft');
  };
  const rows = [rowOf('deep', 1, deep), rowOf('flat', 2, 'new')];
  const written: string[] = [];
  const copier = createDocumentCopier({
    registry,
    source: { documents: async () => rows } as Partial<Source> as Source,
    recorded: { links: () => [], owners: () => [] } as Partial<RecordedRows> as RecordedRows,
    entries: () => [],
    writer: { write: async ({ documentId }) => void written.push(documentId) },
    notes: createImportNotes(),
    takeFile: async () => {},
    dropFile: async () => {},
  });
  await copier.write(['deep', 'flat'].map((documentId) => ({ type: tag.uid, documentId })));
  expect(written).toEqual(['flat']);
  expect(copier.stuck()).toContain('api::tag.tag deep');
});
