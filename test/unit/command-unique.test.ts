import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Command } from '../../services/command/command.ts';
import { createImporter } from '../../services/command/importer.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type CommandWorld, openCommandWorld, schemasOf, valuesOf } from './command-world.ts';

/** Unique values in types, in components of every kind, in a type with locales, and in one without versions. */
const localized = { i18n: { localized: true } };
const shared = { i18n: { localized: false } };
const SHOP = 'api::shop.shop';
const FIRM = 'api::firm.firm';
const TEXT = 'api::text.text';
const places = {
  contact: { type: 'component', component: 'x.contact' },
  links: { type: 'component', component: 'x.link', repeatable: true },
  zone: { type: 'dynamiczone', components: ['x.link', 'x.contact'] },
};
const SCHEMAS = schemasOf(
  {
    shop: {
      attributes: {
        price: { type: 'decimal', unique: true },
        ratio: { type: 'float', unique: true },
        since: { type: 'datetime', unique: true },
        opens: { type: 'time', unique: true },
        visits: { type: 'biginteger', unique: true },
        day: { type: 'date', unique: true },
        kind: { type: 'enumeration', enum: ['a'], unique: true },
        open: { type: 'boolean', unique: true },
        extra: { type: 'json', unique: true },
        ...places,
      },
    },
    firm: { options: { draftAndPublish: false }, attributes: places },
    text: {
      pluginOptions: localized,
      attributes: {
        title: { type: 'string', pluginOptions: localized },
        links: { ...places.links, pluginOptions: localized },
        contact: { ...places.contact, pluginOptions: shared },
      },
    },
  },
  {
    'x.contact': {
      email: { type: 'email', unique: true },
      name: { type: 'string' },
      phones: { type: 'component', component: 'x.phone', repeatable: true },
    },
    'x.phone': { number: { type: 'string', unique: true } },
    'x.link': { url: { type: 'string', unique: true }, slug: { type: 'uid' }, label: { type: 'string' } },
  },
);

let world: CommandWorld;
beforeAll(async () => {
  world = await openCommandWorld(SCHEMAS);
});
afterAll(() => world.close());

const create = (type: string, data: object, more: { status?: string; locale?: string } = {}) =>
  world.execute({ kind: 'create', type, body: { data }, ...more });
const update = (type: string, documentId: string, data: object, more: object = {}) =>
  world.execute({ kind: 'update', type, documentId, body: { data }, ...more });

/** Returns the paths of values that are not unique, or none if the command is accepted. */
async function repeated(result: Promise<unknown>): Promise<readonly string[]> {
  try {
    await result;
    return [];
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== 'invalid-body') throw error;
    const errors = error.details['errors'] as { path: string[]; message: string }[];
    expect(new Set(errors.map(({ message }) => message))).toEqual(new Set(['This attribute must be unique']));
    return errors.map(({ path }) => path.join('.'));
  }
}

test('enumerations, booleans and JSON are never compared', async () => {
  const data = { kind: 'a', open: true, extra: { a: 1 } };
  await create(SHOP, data);
  expect(await repeated(create(SHOP, data))).toEqual([]);
});

describe.each([SHOP, FIRM])('components of %s', (type) => {
  const mine = (name: string) => `${type.slice(5, 9)}-${name}`;

  test.each([
    ['a component', { contact: { email: mine('a@x.org') } }, ['contact.email']],
    ['a nested one', { contact: { phones: [{}, { number: mine('1') }] } }, ['contact.phones.1.number']],
    ['a repeatable one', { links: [{ url: null }, { url: mine('u1') }] }, ['links.1.url']],
    ['a uid in one', { links: [{ slug: mine('s1') }] }, ['links.0.slug']],
    ['a zone', { zone: [{ __component: 'x.link', url: mine('u1') }] }, ['zone.0.url']],
    [
      'a component in a zone',
      { zone: [{ __component: 'x.contact', phones: [{ number: mine('1') }] }] },
      ['zone.0.phones.0.number'],
    ],
    [
      'several at once',
      { contact: { email: mine('b@x.org') }, links: [{ url: mine('u2') }, { url: mine('u3') }] },
      ['contact.email', 'links.0.url', 'links.1.url'],
    ],
  ])('reserves the value of %s', async (_name, data, paths) => {
    const { documentId } = await create(type, data);
    expect(await repeated(create(type, data))).toEqual(paths);
    expect(await repeated(update(type, documentId, data))).toEqual([]);
    await world.execute({ kind: 'delete', type, documentId });
    expect(await repeated(create(type, data))).toEqual([]);
  });

  test('treats each path separately, and each kind of component in a zone', async () => {
    await create(type, { contact: { email: mine('place@x.org') }, links: [{ url: mine('place') }] });
    const elsewhere = {
      zone: [
        { __component: 'x.contact', email: mine('place@x.org') },
        { __component: 'x.link', url: mine('place') },
      ],
    };
    expect(await repeated(create(type, elsewhere))).toEqual([]);
    expect(await repeated(create(type, elsewhere))).toEqual(['zone.1.url', 'zone.0.email']);
  });

  test('refuses a value twice in one entry, and accepts null and "" any number of times', async () => {
    const twice = [{ url: mine('twice') }, { url: mine('once') }, { url: mine('twice') }];
    expect(await repeated(create(type, { links: twice }))).toEqual(['links.0.url', 'links.2.url']);
    const empty = [{ url: null }, { url: '' }, { url: null }, { url: '' }];
    expect(await repeated(create(type, { links: empty }))).toEqual([]);
    expect(await repeated(create(type, { links: empty }))).toEqual([]);
  });

  test('frees a value that is replaced', async () => {
    const { documentId } = await create(type, { links: [{ url: mine('r1') }, { url: mine('r2') }] });
    await update(type, documentId, { links: [{ url: mine('r2') }] });
    expect(await repeated(create(type, { links: [{ url: mine('r1') }] }))).toEqual([]);
    expect(await repeated(create(type, { links: [{ url: mine('r2') }] }))).toEqual(['links.0.url']);
  });

  test('reserves the value of a component that is kept by its id', async () => {
    const { documentId } = await create(type, { links: [{ url: mine('kept') }] });
    const [entry] = world.graph.reader.entries(type, documentId);
    const [{ id }] = entry!.values['links'] as [{ id: number }];
    await update(type, documentId, { links: [{ id, label: 'new' }] });
    expect(await repeated(create(type, { links: [{ url: mine('kept') }] }))).toEqual(['links.0.url']);
  });

  test('exactly one of many concurrent writes gets a value', async () => {
    const before = await create(type, {});
    const commands: Command[] = Array.from({ length: 12 }, (_, i) => ({
      kind: 'create',
      type,
      body: { data: { links: [{ url: mine(`mine ${i}`) }, { url: mine('wanted') }] } },
    }));
    const writes = [
      ...commands.map((command) => world.execute(command)),
      update(type, before.documentId, { links: [{ url: mine('wanted') }] }),
    ];
    const outcomes = await Promise.all(writes.map(repeated));
    expect(outcomes.filter((paths) => paths.length === 0)).toHaveLength(1);
    expect(new Set(outcomes.flat())).toEqual(
      new Set(outcomes.at(-1)?.length ? ['links.1.url', 'links.0.url'] : ['links.1.url']),
    );
  });
});

describe('versions', () => {
  test('drafts reserve nothing and are not checked until they are published', async () => {
    const data = { links: [{ url: 'draft' }, { url: 'draft' }] };
    const { documentId } = await create(SHOP, data, { status: 'draft' });
    await create(SHOP, { links: [{ url: 'draft' }] });
    const publish = world.execute({ kind: 'publish', type: SHOP, documentId });
    expect(await repeated(publish)).toEqual(['links.0.url', 'links.1.url']);
    expect(valuesOf(world, SHOP, documentId, 'published')).toBeUndefined();
  });

  test('a published value is reserved until it is unpublished, for any draft', async () => {
    const { documentId } = await create(SHOP, { contact: { email: 'v@x.org' } });
    await update(SHOP, documentId, { contact: null }, { status: 'draft' });
    const again = () => repeated(create(SHOP, { contact: { email: 'v@x.org' } }));
    expect(await again()).toEqual(['contact.email']);
    await world.execute({ kind: 'unpublish', type: SHOP, documentId });
    expect(await again()).toEqual([]);
  });
});

describe('locales', () => {
  test('each has its own values', async () => {
    const data = { links: [{ url: 'here' }] };
    await create(TEXT, data);
    expect(await repeated(create(TEXT, data))).toEqual(['links.0.url']);
    const { documentId } = await create(TEXT, data, { locale: 'de' });
    expect(await repeated(update(TEXT, documentId, data, { locale: 'en' }))).toEqual(['links.0.url']);
  });

  test('a component that all locales share is reserved in all locales of the document', async () => {
    const { documentId } = await create(TEXT, { title: 'en' });
    await update(TEXT, documentId, { title: 'fr' }, { locale: 'fr' });
    await create(TEXT, { contact: { email: 'fr@x.org' } }, { locale: 'fr' });
    const shareFrench = update(TEXT, documentId, { contact: { email: 'fr@x.org' } });
    expect(await repeated(shareFrench)).toEqual(['contact.email']);
    await update(TEXT, documentId, { contact: { email: 'both@x.org' } });
    const other = { contact: { email: 'both@x.org' } };
    expect(await repeated(create(TEXT, other, { locale: 'fr' }))).toEqual(['contact.email']);
    expect(await repeated(create(TEXT, other, { locale: 'de' }))).toEqual([]);
  });
});

describe('values', () => {
  test.each([
    ['price', 10.5, '10.50'],
    ['ratio', 1e21, '1000000000000000000000'],
    ['ratio', -0, 0],
    ['since', '2024-01-01', '2024-01-01T01:00:00.000+01:00'],
    ['opens', '08:30:00', '08:30:00.000'],
    ['visits', 5, '5'],
    ['day', '2024-01-01', '2024-01-01T12:00:00Z'],
  ])('%s: %s and %s are the same', async (name, value, other) => {
    await create(SHOP, { [name]: value });
    expect(await repeated(create(SHOP, { [name]: other }))).toEqual([name]);
  });

  test('an import obeys them too, among its lines and with stored values', async () => {
    await create(SHOP, { links: [{ url: 'there' }] });
    const importer = createImporter({
      registry: world.registry,
      graph: world.graph.reader,
      defaultLocale: 'en',
      space: 'varve',
      epoch: 0,
      at: '2024-01-01T00:00:00.000Z',
      known: () => ({}),
    });
    const line = (key: string, links: object[]) =>
      importer.importLine({ type: 'shop', key, state: 'published', data: { links } });
    expect(await line('a', [{ url: 'there' }])).toEqual({
      kind: 'refused',
      reasons: ['links.0.url: This attribute must be unique'],
    });
    expect(await line('b', [{ url: 'imported' }])).toMatchObject({ kind: 'document' });
    expect(await line('c', [{}, { url: 'imported' }])).toEqual({
      kind: 'refused',
      reasons: ['links.1.url: This attribute must be unique'],
    });
  });
});
