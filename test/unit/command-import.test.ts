import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createImporter, type ImportOutcome } from '../../services/command/importer.ts';
import { corpusSchemas, newCommandWorld, schemasOf, valuesOf } from './command-world.ts';

const BOOK = 'api::book.book';
const localized = { i18n: { localized: true } };
const SCHEMAS = schemasOf({
  book: {
    attributes: {
      title: { type: 'string', required: true },
      isbn: { type: 'string', unique: true },
      author: { type: 'relation', relation: 'manyToOne', target: 'api::author.author', inversedBy: 'books' },
    },
  },
  author: {
    options: { draftAndPublish: false },
    attributes: {
      name: { type: 'string' },
      books: { type: 'relation', relation: 'oneToMany', target: BOOK, mappedBy: 'author' },
    },
  },
  text: { pluginOptions: localized, attributes: { title: { type: 'string', pluginOptions: localized } } },
});

async function given(schemas = SCHEMAS) {
  const world = await newCommandWorld(schemas);
  const open = () =>
    createImporter({
      registry: world.registry,
      graph: world.graph.reader,
      defaultLocale: 'en',
      space: 'varve',
      epoch: 0,
      at: '2024-01-01T00:00:00.000Z',
      known: (_type, key) => (key === 'missing' ? undefined : {}),
    });
  return { world, importer: open(), open };
}

function documentOf(outcome: ImportOutcome) {
  if (outcome.kind === 'refused') throw new Error(outcome.reasons.join('; '));
  return outcome;
}

const book = (key: string, data: object, more: object = {}) => ({
  type: 'book',
  key,
  state: 'published',
  data: { title: key, ...data },
  ...more,
});

describe('importing', () => {
  test('makes one append for each document, depending on its state', async () => {
    const { importer } = await given();
    const types = async (line: object) =>
      documentOf(await importer.importLine(line)).events.map(({ type }) => type);
    expect(await types(book('a', {}, { state: 'draft' }))).toEqual(['entry-created']);
    expect(await types(book('b', {}))).toEqual(['entry-created', 'entry-published']);
    expect(await types(book('c', {}, { state: 'modified', draft: { title: 'C' } }))).toEqual([
      'entry-created',
      'entry-published',
      'entry-changed',
    ]);
    const variant = (title: string) => ({ state: 'published', data: { title } });
    expect(await types({ type: 'text', key: 't', locales: { en: variant('x'), fr: variant('y') } })).toEqual([
      'entry-created',
      'entry-published',
      'entry-created',
      'entry-published',
    ]);
    expect(await types({ type: 'author', key: 'x', state: 'live', data: {} })).toEqual(['entry-created']);
  });

  test('the same line gives the same events, and other content gives other ids', async () => {
    const { importer, open } = await given();
    const first = documentOf(await importer.importLine(book('a', {})));
    const again = documentOf(await open().importLine(book('a', {})));
    const withoutSalt = ({ events, ...document }: typeof first) => ({
      ...document,
      events: events.map(({ metadata: { salt: _, ...metadata }, ...event }) => ({ ...event, metadata })),
    });
    expect(withoutSalt(again)).toEqual(withoutSalt(first));
    expect(again.events[0]?.metadata.salt).not.toBe(first.events[0]?.metadata.salt);
    expect(first.documentId).toMatch(/^[a-z][a-z0-9]{23}$/);
    const other = documentOf(await open().importLine(book('a', { isbn: '1' })));
    expect(other.stream).toBe(first.stream);
    expect(other.events[0]?.id).not.toBe(first.events[0]?.id);
  });

  test('a second time writes nothing, and does not overwrite a document with other content', async () => {
    const { world, importer } = await given();
    const { stream, events } = documentOf(await importer.importLine(book('a', {})));
    await world.append(stream, events);
    const last = await world.store.lastPosition();
    await world.append(stream, events);
    const other = documentOf(await importer.importLine(book('a', { isbn: '1' })));
    expect(await world.store.append(stream, 'none', other.events)).toMatchObject({ kind: 'conflict' });
    expect(await world.store.lastPosition()).toBe(last);
  });

  test('refuses a row id that another document has, or another locale of the line', async () => {
    const { world, importer } = await given();
    const { stream, events, documentId } = documentOf(await importer.importLine(book('a', {}, { id: 7 })));
    await world.append(stream, events);
    expect(documentOf(await importer.importLine(book('a', {}, { id: 7 }))).documentId).toBe(documentId);
    const refused = { kind: 'refused', reasons: [`id: 7 already belongs to ${documentId}`] };
    expect(await importer.importLine(book('b', {}, { id: 7 }))).toEqual(refused);
    expect(await given().then(({ open }) => open().importLine(book('b', {}, { id: 7 })))).not.toEqual(
      refused,
    );
    const variant = (title: string) => ({ state: 'published', data: { title }, id: 9 });
    const line = { type: 'text', key: 't', locales: { en: variant('x'), fr: variant('y') } };
    expect(await importer.importLine(line)).toEqual({
      kind: 'refused',
      reasons: ['id: 9 already belongs to another locale'],
    });
    documentOf(await importer.importLine({ type: 'author', key: 'x', data: {}, id: 7 }));
  });

  test('references may point forward', async () => {
    const { world, importer } = await given();
    const imported = [
      await importer.importLine(book('a', { author: { $ref: 'author:x' } })),
      await importer.importLine({ type: 'author', key: 'x', state: 'live', data: { name: 'X', books: [] } }),
    ].map(documentOf);
    for (const { stream, events } of imported) await world.append(stream, events);
    const [a, x] = imported.map(({ documentId }) => documentId);
    expect(world.graph.reader.linkedTargets(BOOK, a!, null, 'author')).toEqual([
      { documentId: x, locale: null },
    ]);
    expect(valuesOf(world, 'api::author.author', x!, 'live')).toEqual({ name: 'X' });
  });

  test('keeps given ids and times', async () => {
    const { world, importer } = await given();
    const times = { createdAt: '2020-01-01T00:00:00.000Z', publishedAt: '2021-01-01T00:00:00.000Z' };
    const documentId = 'abcdefghijklmnopqrstuvwx';
    const { stream, events } = documentOf(
      await importer.importLine(book('a', {}, { documentId, id: 40, ...times })),
    );
    await world.append(stream, events);
    const rows = world.graph.reader.entries(BOOK, documentId);
    expect(rows.find(({ version }) => version === 'draft')).toMatchObject({
      id: 40,
      createdAt: times.createdAt,
    });
    expect(rows.find(({ version }) => version === 'published')).toMatchObject({
      publishedAt: times.publishedAt,
    });
  });

  test.each<[string, unknown, RegExp]>([
    ['no object', 5, /expected object/],
    ['an unknown state', book('a', {}, { state: 'new' }), /^state: /],
    ['an unknown member', book('a', {}, { foo: 1 }), /foo/],
    ['an unknown type', { ...book('a', {}), type: 'film' }, /^unknown content type film$/],
    ['drafts of a type without', { type: 'author', key: 'x', state: 'draft', data: {} }, /^state: draft/],
    ['a draft that is not modified', book('a', {}, { draft: {} }), /^draft: belongs to the state modified/],
    ['no locale', { type: 'text', key: 't', locales: {} }, /^locales: there is none$/],
    [
      'a malformed locale',
      { type: 'text', key: 't', locales: { x_y: { state: 'draft', data: {} } } },
      /BCP 47/,
    ],
    ['an unknown key', book('a', { foo: 1 }), /^Invalid key foo$/],
    [
      'an unknown reference',
      book('a', { author: { $ref: 'author:missing' } }),
      /^unknown reference author:missing$/,
    ],
    [
      'a reference to another type',
      book('a', { author: { $ref: 'book:b' } }),
      /book:b is not of the type api::author/,
    ],
    ['what is required', book('a', { title: null }), /^title must be a `string`/],
  ])('refuses %s', async (_name, line, reason) => {
    const { importer } = await given();
    const outcome = await importer.importLine(line);
    expect(outcome.kind).toBe('refused');
    expect(outcome.kind === 'refused' && outcome.reasons.join('; ')).toMatch(reason);
  });

  test('refuses a component whose name is an object, and continues', async () => {
    const attributes = { zone: { type: 'dynamiczone', components: ['x.part'] } };
    const { importer } = await given(schemasOf({ kit: { attributes } }, { 'x.part': {} }));
    const kit = (zone: unknown) => ({ type: 'kit', key: 'k', state: 'draft', data: { zone } });
    const outcome = await importer.importLine(kit([{ __component: { toString: 1 } }]));
    expect(outcome).toMatchObject({ kind: 'refused' });
    documentOf(await importer.importLine(kit([{ __component: 'x.part' }])));
  });

  test('refuses a unique value that another line or document has', async () => {
    const { world, importer, open } = await given();
    const first = documentOf(await importer.importLine(book('a', { isbn: '1' })));
    const refused = { kind: 'refused', reasons: ['isbn: This attribute must be unique'] };
    expect(await importer.importLine(book('b', { isbn: '1' }))).toEqual(refused);
    expect((await importer.importLine(book('a', { isbn: '1' }))).kind).toBe('document');
    await world.append(first.stream, first.events);
    expect(await open().importLine(book('c', { isbn: '1' }))).toEqual(refused);
  });

  test('accepts every line of the conformance fixtures', async () => {
    const { world, importer } = await given(corpusSchemas());
    const types = 'continent country category tag topic chef dish menu restaurant article review user'.split(
      ' ',
    );
    const lines = types.flatMap((type) => {
      const file = path.resolve(import.meta.dirname, `../conformance/fixtures/${type}.jsonl`);
      return readFileSync(file, 'utf8').trim().split('\n');
    });
    const outcomes = await Promise.all(lines.map((line) => importer.importLine(JSON.parse(line))));
    await Promise.all(outcomes.map(documentOf).map(({ stream, events }) => world.append(stream, events)));
    const [restaurant] = outcomes
      .map(documentOf)
      .filter(({ stream }) => stream.startsWith('varve.api__restaurant_restaurant-'));
    const row = valuesOf(world, 'api::restaurant.restaurant', restaurant!.documentId, 'published');
    expect(row).toMatchObject({ key: 'r01', address: { city: 'Paris', geo: { lng: 2.3522 } } });
    expect(lines.length).toBeGreaterThan(300);
  });
});
