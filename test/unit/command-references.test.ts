import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CommandWorld, openCommandWorld, schemasOf, valuesOf } from './command-world.ts';

/** Keys of references and components that Strapi 5.54 accepts or refuses, with its answers. */
const BOOK = 'api::book.book';
const TAG = 'api::tag.tag';
const AUTHOR = 'api::author.author';
const SCHEMAS = schemasOf(
  {
    book: {
      attributes: {
        tags: { type: 'relation', relation: 'manyToMany', target: TAG, inversedBy: 'books' },
        author: { type: 'relation', relation: 'manyToOne', target: AUTHOR },
        part: { type: 'component', component: 'x.part' },
        zone: { type: 'dynamiczone', components: ['x.part'] },
      },
    },
    tag: {
      options: { draftAndPublish: false },
      attributes: {
        name: { type: 'string' },
        books: { type: 'relation', relation: 'manyToMany', target: BOOK, mappedBy: 'tags' },
      },
    },
    author: {
      attributes: {
        name: { type: 'string' },
        salary: { type: 'integer', private: true },
        part: { type: 'component', component: 'x.part' },
      },
    },
  },
  {
    'x.part': { n: { type: 'integer' }, author: { type: 'relation', relation: 'oneToOne', target: AUTHOR } },
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
    (await world.execute({ kind: 'create', type, body: { data: { name: 'n' } } })).documentId;
  tag = await create(TAG);
  other = await create(TAG);
  author = await create(AUTHOR);
});
afterAll(() => world.close());
beforeEach(async () => {
  const body = { data: { tags: [other] } };
  book = (await world.execute({ kind: 'create', type: BOOK, status: 'draft', body })).documentId;
});

const createTag = async () =>
  (await world.execute({ kind: 'create', type: TAG, body: { data: {} } })).documentId;
const put = (data: object) =>
  world.execute({ kind: 'update', type: BOOK, documentId: book, status: 'draft', body: { data } });
const linked = (attribute: string) =>
  world.graph.reader.linkedTargets(BOOK, book, null, attribute).map(({ documentId }) => documentId);

const ANSWERED = { id: 1, name: 'x', createdAt: 'x', updatedAt: 'x', publishedAt: null, locale: null };

describe('a reference', () => {
  test('may be an entry from an answer, without effect on that entry', async () => {
    await put({ tags: [{ documentId: tag, ...ANSWERED, localizations: [], books: [{ documentId: book }] }] });
    expect(linked('tags')).toEqual([tag]);
    expect(valuesOf(world, TAG, tag, 'live')).toEqual({ name: 'n' });
    await put({ author: { documentId: author, ...ANSWERED, part: { id: 1, documentId: 'x', n: 2 } } });
    expect(linked('author')).toEqual([author]);
  });

  test.each<[string, object, string]>([
    ['a further key', { foo: 1 }, 'Invalid key foo at tags'],
    ['a status', { status: 'draft' }, 'Invalid key status at tags'],
    ['a position', { position: { start: true } }, 'Invalid key position at tags'],
    ['who created it', { createdBy: 1 }, 'Invalid key createdBy at tags'],
    ['operations', { connect: [] }, 'Invalid key connect at tags'],
    ['a further key of an entry in it', { books: [{ foo: 1 }] }, 'Invalid key foo at tags.books'],
    ['one deeper', { books: [{ tags: [{ foo: 1 }] }] }, 'Invalid key foo at tags.books.tags'],
  ])('is refused with %s', async (_name, more, message) => {
    const refused = expect(put({ tags: [{ documentId: tag, ...more }] })).rejects;
    await refused.toMatchObject({ code: 'invalid-body', message });
    expect(linked('tags')).toEqual([other]);
  });

  test('is refused with a private attribute, as if there were none', async () => {
    await expect(put({ author: { documentId: author, salary: 5 } })).rejects.toMatchObject({
      message: 'Invalid key salary at author',
    });
  });

  test('with an empty documentId is its id', async () => {
    const id = world.graph.reader.entries(TAG, tag)[0]?.id;
    await put({ tags: [{ documentId: '', id }] });
    expect(linked('tags')).toEqual([tag]);
  });
});

describe('operations', () => {
  test.each(['connect', 'set'])('%s takes references with keys of any name', async (operation) => {
    const reference = { documentId: tag, status: 'draft', isTemporary: true, foo: { bar: 1 } };
    await put({ tags: { [operation]: [reference], options: { foo: 1 } } });
    expect(linked('tags')).toEqual(operation === 'set' ? [tag] : [other, tag]);
  });

  test('accept attributes of an answer next to them, and no other key', async () => {
    await put({ tags: { connect: [tag], name: 'x', createdAt: 'x' } });
    expect(linked('tags')).toEqual([other, tag]);
    await put({ tags: { options: {} } });
    expect(linked('tags')).toEqual([other, tag]);
    await expect(put({ tags: { connect: [], foo: 1 } })).rejects.toMatchObject({
      message: 'Invalid key foo at tags',
    });
  });

  test('accept any true start, and treat an empty neighbour as none', async () => {
    await put({ tags: { connect: [{ documentId: tag, position: { start: 'x' } }] } });
    expect(linked('tags')).toEqual([tag, other]);
    await put({ tags: { connect: [{ documentId: tag, position: { before: '' } }] } });
    expect(linked('tags')).toEqual([other, tag]);
  });

  test.each(['before', 'after'])(
    'connect %s a target that is disconnected by the same update takes its place',
    async (at) => {
      const [first, second, third] = [other, tag, await createTag()];
      await put({ tags: [first, second, third] });
      const added = [await createTag(), await createTag()];
      const connect = added.map((documentId) => ({ documentId, position: { [at]: second } }));
      await put({ tags: { disconnect: [second], connect } });
      expect(linked('tags')).toEqual([first, ...added, third]);
      const last = { documentId: second, position: { [at]: third } };
      await put({ tags: { disconnect: [third], connect: [last] } });
      expect(linked('tags')).toEqual([first, ...added, second]);
    },
  );

  test('are refused next to an id: Strapi would ignore them', async () => {
    await expect(put({ tags: { documentId: tag, connect: [other] } })).rejects.toMatchObject({
      message: 'Invalid key documentId at tags',
    });
  });
});

describe('a component', () => {
  test('may have a documentId and whole entries', async () => {
    await put({ part: { documentId: 'x', n: 1, author: { documentId: author, name: 'x', createdAt: 1 } } });
    expect(valuesOf(world, BOOK, book, 'draft')?.['part']).toMatchObject({ n: 1 });
    await expect(put({ part: { createdAt: 'x' } })).rejects.toMatchObject({
      message: 'Invalid key createdAt at part',
    });
  });

  test('names itself in a dynamic zone only', async () => {
    await put({ zone: [{ __component: 'x.part', documentId: 'x', n: 1 }] });
    await expect(put({ part: { __component: 'x.part', n: 1 } })).rejects.toMatchObject({
      message: 'Invalid key __component at part',
    });
  });
});
