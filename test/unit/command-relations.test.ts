import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { orderConnections } from '../../services/command/place-links.ts';
import { type CommandWorld, openCommandWorld, schemasOf } from './command-world.ts';

const BOOK = 'api::book.book';
const TAG = 'api::tag.tag';
const PAGE = 'api::page.page';
const localized = { i18n: { localized: true } };
const SCHEMAS = schemasOf(
  {
    book: {
      attributes: {
        tags: { type: 'relation', relation: 'manyToMany', target: TAG, inversedBy: 'books' },
        best: { type: 'relation', relation: 'manyToOne', target: TAG },
        page: { type: 'relation', relation: 'manyToOne', target: PAGE },
        cover: { type: 'media', multiple: false, allowedTypes: ['images'] },
        part: { type: 'component', component: 'x.part' },
      },
    },
    tag: {
      options: { draftAndPublish: false },
      attributes: { books: { type: 'relation', relation: 'manyToMany', target: BOOK, mappedBy: 'tags' } },
    },
    page: {
      pluginOptions: localized,
      attributes: {
        title: { type: 'string', pluginOptions: localized },
        next: { type: 'relation', relation: 'manyToOne', target: PAGE, pluginOptions: localized },
      },
    },
  },
  { 'x.part': { n: { type: 'integer' }, tags: { type: 'relation', relation: 'oneToMany', target: TAG } } },
);

let world: CommandWorld;
/** documentIds of five tags. t[n] has the numeric id n + 1. */
const t: string[] = [];
let book: string;

beforeAll(async () => {
  world = await openCommandWorld(SCHEMAS);
  for (let n = 0; n < 5; n++) {
    const { documentId } = await world.execute({ kind: 'create', type: TAG, body: { data: {} } });
    t.push(documentId);
  }
});
afterAll(() => world.close());
beforeEach(async () => {
  const body = { data: { tags: [t[0], t[1]], part: { n: 1, tags: [t[0], t[1]] } } };
  book = (await world.execute({ kind: 'create', type: BOOK, status: 'draft', body })).documentId;
});

const put = (data: object) =>
  world.execute({ kind: 'update', type: BOOK, documentId: book, status: 'draft', body: { data } });
const linked = (attribute: string) =>
  world.graph.reader
    .linkedTargets(BOOK, book, null, attribute)
    .map(({ documentId }) => t.indexOf(documentId));

describe('a to-many relation', () => {
  // `t0` is a documentId, and `#1` a numeric id.
  test.each<[string, unknown, readonly number[]]>([
    ['an array', ['t2', 't3'], [2, 3]],
    ['objects', [{ documentId: 't3' }, { id: '#3' }], [3, 2]],
    ['ids and their text', ['#3', '4'], [2, 3]],
    ['one value', 't4', [4]],
    ['one id', '#5', [4]],
    ['set', { set: ['t4', 't4'] }, [4]],
    ['set of one', { set: 't4' }, [4]],
    ['set nothing', { set: [] }, []],
    ['an empty array', [], []],
    ['null', null, []],
    ['an array of null', [null], []],
    ['an empty object changes nothing', {}, [0, 1]],
    ['set null changes nothing', { set: null }, [0, 1]],
    ['connect', { connect: ['t2'] }, [0, 1, 2]],
    ['connect one', { connect: 't2' }, [0, 1, 2]],
    ['connect one twice', { connect: ['t2', { documentId: 't2' }] }, [0, 1, 2]],
    ['connect what is linked moves it', { connect: ['t0'] }, [1, 0]],
    ['disconnect', { disconnect: ['t0'] }, [1]],
    ['disconnect an unknown id', { disconnect: [999] }, [0, 1]],
    ['connect wins over disconnect', { connect: ['t0'], disconnect: ['t0', 't1'] }, [0]],
    ['set wins over connect', { connect: ['t3'], set: ['t2'] }, [2]],
    ['at the start', { connect: [{ documentId: 't2', position: { start: true } }] }, [2, 0, 1]],
    ['before', { connect: [{ documentId: 't2', position: { before: 't1' } }] }, [0, 2, 1]],
    ['after an id', { connect: [{ id: '#3', position: { after: '#1' } }] }, [0, 2, 1]],
    [
      'before one that comes later in the list',
      {
        connect: [
          { documentId: 't2', position: { before: 't3' } },
          { documentId: 't3', position: { start: true } },
        ],
      },
      [2, 3, 0, 1],
    ],
    [
      'before a document that is not linked, with strict: false',
      { connect: [{ documentId: 't2', position: { before: 't4' } }], options: { strict: false } },
      [0, 1, 2],
    ],
  ])('%s', async (_name, value, expected) => {
    const tags = JSON.parse(
      JSON.stringify(value)
        .replace(/"t(\d)"/g, (_, n) => JSON.stringify(t[Number(n)]))
        .replace(/"#(\d)"/g, '$1'),
    );
    await put({ tags });
    expect(linked('tags')).toEqual(expected);
  });

  test('strict: false has no effect in a new entry, as in Strapi', async () => {
    const connect = [{ documentId: t[2], position: { before: t[4] } }];
    const tags = { connect, options: { strict: false } };
    await expect(
      world.execute({ kind: 'create', type: BOOK, status: 'draft', body: { data: { tags } } }),
    ).rejects.toThrow('needs to be connected first');
  });

  test('a document at two positions is refused, as in Strapi', async () => {
    const documentId = t[2];
    for (const position of [{ start: true }, undefined])
      await expect(
        put({
          tags: {
            connect: [
              { documentId, position: { end: true } },
              { documentId, position },
            ],
          },
        }),
      ).rejects.toThrow(
        'The relation with id 3 is already connected. You cannot connect the same relation twice.',
      );
    expect(linked('tags')).toEqual([0, 1]);
  });

  test('positions inside a kept component are resolved in its value', async () => {
    const part = world.graph.reader.entries(BOOK, book)[0]!.values['part'] as { id: number };
    const connect = [{ documentId: t[2], position: { before: t[1] } }];
    await world.newEvents();
    await put({ part: { id: part.id, tags: { connect, disconnect: [t[0]] } } });
    expect(await world.newEvents()).toMatchObject([
      {
        data: {
          values: {
            part: {
              id: part.id,
              n: 1,
              tags: [
                { documentId: t[2], locale: null },
                { documentId: t[1], locale: null },
              ],
            },
          },
        },
      },
    ]);
  });

  test('from the other side', async () => {
    await world.execute({ kind: 'update', type: TAG, documentId: t[4]!, body: { data: { books: [book] } } });
    expect(linked('tags')).toEqual([0, 1, 4]);
  });
});

describe('a to-one relation', () => {
  test.each<[string, (ids: readonly string[]) => unknown, readonly number[]]>([
    ['the last of several', (ids) => [ids[1], ids[2]], [2]],
    ['the first connected, as in Strapi', (ids) => ({ connect: [ids[1], ids[2]] }), [1]],
    ['disconnect another', (ids) => ({ disconnect: [ids[1]] }), [0]],
    ['disconnect', (ids) => ({ disconnect: [ids[0]] }), []],
    ['null', () => null, []],
  ])('%s', async (_name, value, expected) => {
    await put({ best: t[0] });
    await put({ best: value(t) });
    expect(linked('best')).toEqual(expected);
  });

  test('the first of several files, as in Strapi', async () => {
    const file = async (name: string) => {
      const data = { name, hash: name, mime: 'image/png', size: 1, url: `/${name}`, provider: 'local' };
      return (await world.execute({ kind: 'create', type: 'plugin::upload.file', body: { data } }))
        .documentId;
    };
    const files = [await file('a'), await file('b')];
    await put({ cover: files });
    const targets = world.graph.reader.linkedTargets(BOOK, book, null, 'cover');
    expect(targets.map(({ documentId }) => documentId)).toEqual(files.slice(0, 1));
  });
});

describe('refused', () => {
  const missing = (id: string, locale: string | null = null) =>
    `Document with id "${id}", locale "${locale}" not found`;
  test.each<[string, object, string]>([
    ['an unknown document', { tags: ['nope'] }, missing('nope')],
    ['to disconnect an unknown document', { tags: { disconnect: ['nope'] } }, missing('nope')],
    ['an unknown document in a component', { part: { tags: ['nope'] } }, missing('nope')],
    ['an unknown document of a localized type', { page: 'nope' }, missing('nope', 'en')],
    ['an unknown file', { cover: 'nope' }, missing('nope')],
    [
      'unknown ids',
      { tags: [998, 999] },
      `2 relation(s) of type ${TAG} associated with this entity do not exist`,
    ],
    [
      'an unknown file id',
      { cover: { id: 5 } },
      '1 relation(s) of type plugin::upload.file associated with this entity do not exist',
    ],
    ['no reference', { tags: [{}] }, 'Invalid relations'],
    ['a boolean', { best: true }, 'Invalid relations'],
    ['a fraction', { best: 1.5 }, 'Invalid relations'],
    ['an unknown operation', { tags: { add: [] } }, 'Invalid key add at tags'],
    ['an unknown key next to an operation', { tags: { set: [], foo: 1 } }, 'Invalid key foo at tags'],
    ['an empty text', { tags: '' }, 'Invalid relations'],
    ['an empty text in a list', { tags: [''] }, 'Invalid relations'],
    ['an empty text to connect', { tags: { connect: '' } }, 'Invalid relations'],
    ['zero to connect', { tags: { connect: 0 } }, 'Invalid relations'],
    ['an empty text as the list', { tags: { set: '' } }, 'Invalid relations'],
    ['an empty documentId', { tags: [{ documentId: '' }] }, 'Invalid relations'],
    ['an unknown key in a reference', { tags: [{ id: 1, foo: 1 }] }, 'Invalid key foo at tags'],
    [
      'an unknown key in a component',
      { part: { tags: [{ id: 1, status: 'draft' }] } },
      'Invalid key status at part.tags',
    ],
    [
      'an unknown position',
      { tags: { connect: [{ id: 1, position: { top: true } }] } },
      'Invalid key top at tags',
    ],
    [
      'a position before a document that is not linked',
      { tags: { connect: [{ id: 3, position: { before: 5 } }] } },
      'There was a problem connecting relation with id 3 at position {"before":5,"locale":"en"}. The relation with id 5 needs to be connected first.',
    ],
    [
      'positions that depend on each other',
      {
        tags: {
          connect: [
            { id: 3, position: { before: 4 } },
            { id: 4, position: { before: 3 } },
          ],
        },
      },
      'A circular reference was found in the connect array. One relation is trying to connect before/after another one that is trying to connect before/after it',
    ],
  ])('%s', async (_name, data, message) => {
    await expect(put(data)).rejects.toMatchObject({ code: 'invalid-body', message });
  });
});

test('as many connections as a body holds may wait for each other', () => {
  const target = (number: number) => ({ documentId: `d${number}`, locale: null });
  const connect = Array.from({ length: 20_000 }, (_, number) => ({
    target: target(number),
    place: { at: 'before', ...target(number + 1) } as const,
  }));
  const update = { kind: 'update', disconnect: [], connect, strict: true } as const;
  const ordered = orderConnections(
    update,
    () => [target(20_000)],
    [],
    () => expect.unreachable(),
  );
  expect(ordered).toEqual(connect.toReversed());
});

describe('locales of targets', () => {
  test('an i18n entry links to its own locale, which must exist', async () => {
    const create = { kind: 'create', type: PAGE, body: { data: { title: 'x' } }, status: 'draft' } as const;
    const target = await world.execute({ ...create, locale: 'fr' });
    const body = { data: { next: { documentId: target.documentId, locale: 'fr' } } };
    await expect(world.execute({ ...create, body })).rejects.toMatchObject({
      message: `Document with id "${target.documentId}", locale "en" not found`,
    });
    const french = await world.execute({ ...create, body, locale: 'fr' });
    expect(world.graph.reader.linkedTargets(PAGE, french.documentId, 'fr', 'next')).toEqual([
      { documentId: target.documentId, locale: 'fr' },
    ]);
  });

  test('any other entry links to the given locale or the default one', async () => {
    const create = { kind: 'create', type: PAGE, body: { data: { title: 'x' } }, status: 'draft' } as const;
    const { documentId } = await world.execute(create);
    await world.execute({ ...create, kind: 'update', documentId, locale: 'fr' });
    await put({ page: documentId });
    expect(world.graph.reader.linkedTargets(BOOK, book, null, 'page')).toEqual([
      { documentId, locale: 'en' },
    ]);
    await put({ page: { documentId, locale: 'fr' } });
    expect(world.graph.reader.linkedTargets(BOOK, book, null, 'page')).toEqual([
      { documentId, locale: 'fr' },
    ]);
  });
});

describe('unchanged relations', () => {
  /** Returns the attributes of the relation operations in the new events. */
  const operations = async () =>
    (await world.newEvents()).map(({ data }) =>
      'relations' in data ? data.relations.map(({ attribute }) => attribute) : [],
    );

  test.each<[string, (tags: readonly string[]) => unknown, boolean]>([
    ['an array', (tags) => tags, false],
    ['set', (tags) => ({ set: tags.map((documentId) => ({ documentId })) }), false],
    ['an array in another order', (tags) => tags.toReversed(), true],
    ['connect what is last', (tags) => ({ connect: tags.slice(-1) }), false],
    ['connect what is first, which moves it', (tags) => ({ connect: tags.slice(0, 1) }), true],
    ['connect at its place', ([a, b]) => ({ connect: [{ documentId: a, position: { before: b } }] }), false],
    ['disconnect what is not linked', () => ({ disconnect: [t[4]] }), false],
    ['disconnect what is linked', (tags) => ({ disconnect: tags.slice(0, 1) }), true],
  ])('are not stored again: %s', async (_name, value, isStored) => {
    await put({ best: t[2], cover: null });
    await world.newEvents();
    await put({ tags: value([String(t[0]), String(t[1])]), best: t[2], cover: null });
    expect(await operations()).toEqual([isStored ? ['tags'] : []]);
  });

  test('add no event to the publication of an entry that is published at once', async () => {
    const body = { data: { tags: [t[0], t[1]] } };
    const update = { kind: 'update', type: BOOK, documentId: book, body } as const;
    await world.execute(update);
    await world.newEvents();
    await world.execute(update);
    expect((await world.newEvents()).map(({ type }) => type)).toEqual(['entry-published']);
  });

  test('are stored if another document changed only one world', async () => {
    const tag = (await world.execute({ kind: 'create', type: TAG, body: { data: { books: [book] } } }))
      .documentId;
    await world.execute({ kind: 'publish', type: BOOK, documentId: book });
    // Only the draft of the book disconnects the tag and connects it again.
    await put({ tags: { disconnect: [tag] } });
    await world.newEvents();
    const update = { kind: 'update', type: TAG, documentId: tag, body: { data: { books: [] } } } as const;
    await world.execute(update);
    expect(await operations()).toEqual([['books']]);
    await world.execute(update);
    expect(await operations()).toEqual([[]]);
  });

  test('inside a component are part of its value, which is not stored again either', async () => {
    const part = world.graph.reader.entries(BOOK, book)[0]!.values['part'] as { id: number };
    await world.newEvents();
    await put({ part: { id: part.id, n: 1, tags: [t[0], t[1]] } });
    expect(await world.newEvents()).toMatchObject([{ data: { values: {}, relations: [] } }]);
  });

  test('are not stored again for one locale', async () => {
    const data = { title: 'x' };
    const create = { kind: 'create', type: PAGE, body: { data }, status: 'draft' } as const;
    const { documentId } = await world.execute(create);
    const english = { ...create, kind: 'update', documentId } as const;
    await world.execute({ ...english, body: { data: { next: documentId } } });
    await world.newEvents();
    await world.execute({ ...english, body: { data: { next: documentId } } });
    expect(await operations()).toEqual([[]]);
  });
});
