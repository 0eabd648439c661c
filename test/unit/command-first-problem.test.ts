import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandWorld, openCommandWorld, schemasOf } from './command-world.ts';

/** Bodies with several problems, and the problem that a Strapi 5.54 names. Also forms of references that it accepts or refuses. */
const BOOK = 'api::book.book';
const TAG = 'api::tag.tag';
const AUTHOR = 'api::author.author';
const SCHEMAS = schemasOf(
  {
    book: {
      attributes: {
        title: { type: 'string' },
        kind: { type: 'enumeration', enum: ['a'] },
        text: { type: 'blocks' },
        parts: { type: 'component', component: 'x.part', repeatable: true },
        day: { type: 'date' },
        author: { type: 'relation', relation: 'manyToOne', target: AUTHOR },
        part: { type: 'component', component: 'x.part' },
        tags: { type: 'relation', relation: 'manyToMany', target: TAG },
        zone: { type: 'dynamiczone', components: ['x.part'] },
        page: { type: 'relation', relation: 'oneToOne', target: 'api::page.page' },
      },
    },
    page: {
      pluginOptions: { i18n: { localized: true } },
      attributes: { title: { type: 'string' } },
    },
    tag: { options: { draftAndPublish: false }, attributes: { name: { type: 'string' } } },
    author: { attributes: { name: { type: 'string' } } },
  },
  {
    'x.part': { n: { type: 'integer' }, author: { type: 'relation', relation: 'oneToOne', target: AUTHOR } },
    'x.other': { n: { type: 'integer' } },
    'y.more': { n: { type: 'integer' } },
  },
);

let world: CommandWorld;
let tag: string;
let other: string;
let author: string;
let book: string;

beforeAll(async () => {
  world = await openCommandWorld(SCHEMAS);
  const create = async (type: string) =>
    (await world.execute({ kind: 'create', type, status: 'draft', body: { data: {} } })).documentId;
  [tag, other, author, book] = [
    await create(TAG),
    await create(TAG),
    await create(AUTHOR),
    await create(BOOK),
  ];
});
afterAll(() => world.close());

const put = (data: object, documentId = book) =>
  world.execute({ kind: 'update', type: BOOK, documentId, status: 'draft', body: { data } });
const refusal = async (data: object, documentId?: string): Promise<string> =>
  put(data, documentId).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
const linked = (attribute: string) =>
  world.graph.reader.linkedTargets(BOOK, book, null, attribute).map(({ documentId }) => documentId);

const noDocument = (id: string) => `Document with id "${id}", locale "null" not found`;
const noRows = (count: number, type: string) =>
  `${count} relation(s) of type ${type} associated with this entity do not exist`;

describe('unknown documents come first', () => {
  test.each<[string, object, string]>([
    ['in the order of the body', { tags: ['nope2'], author: 'nope1' }, 'nope2'],
    ['in components too', { part: { author: 'nope2' }, author: 'nope1' }, 'nope2'],
    [
      'set, then disconnect, then connect',
      { tags: { connect: ['a1'], disconnect: ['a2'], set: ['a3'] } },
      'a3',
    ],
    ['disconnect before connect', { tags: { connect: ['a1'], disconnect: ['a2'] } }, 'a2'],
    ['next to a set', { tags: { set: [], connect: ['a1'] } }, 'a1'],
    ['before other problems', { title: 5, day: 'x', tags: [99_999], author: 'nope' }, 'nope'],
    ['numbers for a documentId', { tags: { connect: [{ documentId: 5 }] } }, '5'],
  ])('%s', async (_name, data, id) => {
    expect(await refusal(data)).toBe(noDocument(id));
  });

  test('before an unknown entry', async () => {
    expect(await refusal({ author: 'nope' }, 'missing')).toBe(noDocument('nope'));
    expect(await refusal({ title: 5, tags: [99_999] }, 'missing')).toBe('Not Found');
  });

  test('whatever a dynamic zone names as a component', async () => {
    const zone = [{ __component: { toString: 1 } }];
    expect(await refusal({ zone, author: 'nope' })).toBe(noDocument('nope'));
    expect(await refusal({ zone }, 'missing')).toBe('Not Found');
  });

  test('in the locale of the reference, whatever it is', async () => {
    const page = (locale: unknown) => refusal({ page: { documentId: 'p', locale } });
    expect(await page(5)).toBe('Document with id "p", locale "5" not found');
    expect(await page('')).toBe('Document with id "p", locale "en" not found');
  });

  test('neighbours of a document are documents', async () => {
    const connect = (before: unknown) => ({ tags: { connect: [{ documentId: tag, position: { before } }] } });
    expect(await refusal(connect(99_999))).toBe(noDocument('99999'));
    expect(await refusal(connect('nope'))).toBe(noDocument('nope'));
  });
});

describe('references are validated type by type', () => {
  test.each<[string, object, string]>([
    ['the first type that has a wrong one', { tags: [true], author: 99_999 }, noRows(1, AUTHOR)],
    ['references without an id', { tags: [{}], author: 99_999 }, 'Invalid relations'],
    ['an empty text', { tags: [''], author: 99_999 }, 'Invalid relations'],
    ['unreadable ones', { author: true, tags: [99_999] }, 'Invalid relations'],
    ['a null id', { tags: [{ id: null }] }, noRows(1, TAG)],
    ['several ids', { tags: [99_998, 99_999, 99_998] }, noRows(2, TAG)],
    ['text that begins with a number', { tags: ['5x'] }, 'Invalid relations'],
    ['a number beyond all rows', { tags: [99_999_999_999] }, 'Invalid relations'],
    ['connect next to a set', { tags: { set: [], connect: [99_999] } }, noRows(1, TAG)],
    ['an empty text for connect', { tags: { connect: '' } }, 'Invalid relations'],
  ])('%s', async (_name, data, message) => {
    expect(await refusal(data)).toBe(message);
  });

  test('links that cannot be made come after everything else', async () => {
    const twice = [{ documentId: tag }, { documentId: tag, position: { start: true } }];
    expect(await refusal({ tags: { connect: twice }, title: 5 })).toMatch(/^title must be a `string` type/);
    expect(await refusal({ tags: { connect: twice }, day: 'x' })).toBe('Invalid format, expected yyyy-MM-dd');
    expect(await refusal({ tags: { connect: twice } })).toMatch(/is already connected/);
    expect(await refusal({ part: { id: 99_999 }, title: 5 })).toMatch(/^title must be a `string` type/);
    expect(await refusal({ part: { id: 99_999 } })).toMatch(/^Some of the provided components in part/);
  });
});

describe('forms of references', () => {
  test('of a relation to one: only the last of a list is looked at', async () => {
    await put({ author: ['nope', author] });
    expect(linked('author')).toEqual([author]);
    await put({ author: { set: [99_999, true, author] } });
    expect(linked('author')).toEqual([author]);
    expect(await refusal({ author: { connect: ['nope', author] } })).toBe(noDocument('nope'));
  });

  test('lists in an operation are flattened, lists in a list are refused', async () => {
    await put({ tags: { set: [[tag], [[other]]] } });
    expect(linked('tags')).toEqual([tag, other]);
    expect(await refusal({ tags: [[tag]] })).toBe('Invalid key 0 at tags');
  });

  test('next to a set, places of connect mean nothing', async () => {
    const connect = [{ documentId: tag }, { documentId: tag, position: { start: true } }];
    await put({ tags: { connect, set: [other] } });
    expect(linked('tags')).toEqual([other]);
  });

  test('a falsy disconnect has no effect', async () => {
    await put({ tags: [tag] });
    for (const disconnect of [0, '', false]) await put({ tags: { disconnect } });
    expect(linked('tags')).toEqual([tag]);
    expect(await refusal({ tags: { disconnect: [{}] } })).toBe('Invalid relations');
  });

  test('linked targets may be placed next to each other', async () => {
    await put({ tags: [tag, other] });
    const next = (documentId: string, before: string) => ({ documentId, position: { before } });
    await put({ tags: { connect: [next(tag, other), next(other, tag)] } });
    expect(linked('tags')).toEqual([other, tag]);
  });
});

test('an unknown component is refused with all components, the last of each folder first', async () => {
  await expect(put({ zone: [{ __component: 'x.nope' }] })).rejects.toMatchObject({
    details: {
      errors: [
        { message: 'zone[0].__component must be one of the following values: x.part, x.other, y.more' },
        { message: 'Invalid relations' },
      ],
    },
  });
});

describe('the problems of one value', () => {
  test.each<[string, object, string[]]>([
    [
      'an enumeration of a wrong type',
      { kind: ['a'] },
      [
        'kind must be a `string` type, but the final value was: `[\n  "\\"a\\""\n]`.',
        'kind must be one of the following values: a, ',
      ],
    ],
    [
      'a zone with something else than an object',
      { zone: [5] },
      [
        'zone[0] must be a `object` type, but the final value was: `null` (cast from the value `5`).',
        'Invalid relations',
      ],
    ],
    [
      'a heading whose level is an object',
      { text: [{ type: 'heading', level: { toString: 1 }, children: [{ type: 'text', text: 'x' }] }] },
      ['text[0].level must be one of the following values: 1, 2, 3, 4, 5, 6'],
    ],
    [
      'a heading without a level',
      { text: [{ type: 'heading', children: [{ type: 'text', text: 'x' }] }] },
      ['text[0].level is a required field'],
    ],
    [
      'an image without sizes, in the order of Strapi',
      {
        text: [
          {
            type: 'image',
            image: { name: 'n', url: 'u', mime: 'm', provider: 'p', createdAt: 'c', updatedAt: 'u' },
            children: [{ type: 'text', text: '' }],
          },
        ],
      },
      ['width', 'height', 'hash', 'ext', 'size'].map((name) => `text[0].image.${name} is a required field`),
    ],
  ])('%s', async (_name, data, messages) => {
    const errors = messages.map((message) => expect.objectContaining({ message }));
    await expect(put(data)).rejects.toMatchObject({ details: { errors } });
  });

  test('a list in a list of components has the unknown key 0', async () => {
    expect(await refusal({ parts: [[{ n: 1 }]] })).toBe('Invalid key 0 at parts');
    expect(await refusal({ parts: [[]] })).toMatch(/^parts\[0\] must be a `object` type/);
  });
});

test('a list is refused after an unknown entry', async () => {
  expect(await refusal([], 'missing')).toBe('Not Found');
  expect(await refusal([])).toMatch(/^this must be a `object` type/);
});
