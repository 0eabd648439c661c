import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestError } from '../../shared/request-error.ts';
import { type CommandWorld, openCommandWorld, schemasOf } from './command-world.ts';

const [PAGE, POST, NOTE, TAG] = ['api::page.page', 'api::post.post', 'api::note.note', 'api::tag.tag'];
const one = { type: 'relation', relation: 'manyToOne', target: PAGE, required: true };
const many = { type: 'relation', relation: 'manyToMany', target: PAGE, required: true };
const part = { type: 'component', component: 'x.part' };
const SCHEMAS = schemasOf(
  {
    page: { attributes: { name: { type: 'string' } } },
    tag: { options: { draftAndPublish: false }, attributes: { name: { type: 'string' } } },
    post: { attributes: { one, many, part } },
    note: { options: { draftAndPublish: false }, attributes: { one, many } },
    album: { attributes: { cover: { type: 'media', required: true } } },
  },
  { 'x.part': { tag: { type: 'relation', relation: 'oneToOne', target: TAG, required: true } } },
);

let [strict, lenient]: readonly CommandWorld[] = [];
beforeAll(async () => {
  strict = await openCommandWorld(SCHEMAS, () => ({ strictRelations: true }));
  lenient = await openCommandWorld(SCHEMAS);
});
afterAll(async () => {
  await strict?.close();
  await lenient?.close();
});

function world(): CommandWorld {
  if (strict === undefined) throw new Error('not open');
  return strict;
}

async function create(type: string, data: object, status?: string): Promise<string> {
  const command = { kind: 'create', type, status, locale: undefined, body: { data } } as const;
  return (await world().execute(command)).documentId;
}

async function update(type: string, documentId: string, data: object, status?: string): Promise<void> {
  await world().execute({ kind: 'update', type, documentId, status, locale: undefined, body: { data } });
}

/** Returns the path, message and value of each problem. The list is empty if the write is accepted. */
async function problems(write: Promise<unknown>): Promise<unknown[]> {
  try {
    await write;
    return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error.details['errors'] as unknown[];
  }
}

function missing(name: string, value?: unknown, ...path: readonly string[]): object {
  return {
    path: [...path, name],
    message: `${name} must be defined.`,
    name: 'ValidationError',
    ...(value === undefined ? {} : { value }),
  };
}

describe('with draft & publish', () => {
  test('a draft may lack required relations, a published entry may not', async () => {
    const post = await create(POST, {}, 'draft');
    expect(await problems(update(POST, post, {}))).toEqual([
      missing('one', null),
      missing('many', { set: [] }),
    ]);
    const publish = world().execute({ kind: 'publish', type: POST, documentId: post, locale: undefined });
    expect(await problems(publish)).toEqual([missing('one', null), missing('many', { set: [] })]);
    const page = await create(PAGE, {});
    await update(POST, post, { one: page, many: { connect: [page] } });
    await update(POST, post, {});
    expect(await problems(update(POST, post, { many: { disconnect: [page] } }))).toEqual([
      missing('many', { set: [] }),
    ]);
  });

  test('a target without a published version does not count', async () => {
    const [draft, page] = [await create(PAGE, {}, 'draft'), await create(PAGE, {})];
    expect(await problems(create(POST, { one: draft, many: [draft] }))).toEqual([
      missing('one', { set: [] }),
      missing('many', { set: [] }),
    ]);
    expect(await problems(create(POST, { one: page, many: [draft, page] }))).toEqual([]);
  });

  test('a component has its required relations too', async () => {
    const [page, tag] = [await create(PAGE, {}), await create(TAG, {})];
    const whole = { one: page, many: [page] };
    expect(await problems(create(POST, { ...whole, part: {} }))).toEqual([missing('tag', null, 'part')]);
    expect(await problems(create(POST, { ...whole, part: { tag } }))).toEqual([]);
  });

  test('a required file has to be there', async () => {
    expect(await problems(create('api::album.album', {}))).toEqual([missing('cover', null)]);
    expect(await problems(create('api::album.album', {}, 'draft'))).toEqual([]);
  });
});

describe('without draft & publish', () => {
  test.each([
    ['nothing', undefined, undefined],
    ['null', null, null],
    ['an empty list', [], { set: [] }],
    ['a list of null', [null], { set: [] }],
    ['an empty set', { set: [] }, { set: [] }],
    ['no connection', { connect: [] }, { connect: [] }],
  ])('a new entry needs more than %s', async (_, sent, value) => {
    const page = await create(PAGE, {});
    const data = sent === undefined ? { many: [page] } : { many: [page], one: sent };
    expect(await problems(create(NOTE, data))).toEqual([missing('one', value)]);
  });

  test('a disconnection does not satisfy a required relation of a new entry', async () => {
    const page = await create(PAGE, {});
    const sent = { disconnect: [page] };
    expect(await problems(create(NOTE, { many: [page], one: sent }))).toEqual([missing('one', sent)]);
    expect(await problems(create(NOTE, { many: sent, one: page }))).toEqual([missing('many', sent)]);
  });

  test('an update keeps what it does not name, and may disconnect from a list', async () => {
    const page = await create(PAGE, {});
    const note = await create(NOTE, { one: page, many: [page] });
    for (const data of [{}, { one: { connect: [] } }, { one: page }, { many: { disconnect: [page] } }])
      expect(await problems(update(NOTE, note, data)), JSON.stringify(data)).toEqual([]);
    for (const sent of [null, { set: [] }, { disconnect: [page] }])
      expect(await problems(update(NOTE, note, { one: sent }))).toEqual([missing('one', sent)]);
  });
});

test('without strict relations nothing is required', async () => {
  for (const type of [POST, NOTE]) {
    const command = {
      kind: 'create',
      type,
      status: undefined,
      locale: undefined,
      body: { data: {} },
    } as const;
    expect((await lenient?.execute(command))?.documentId).toMatch(/^[a-z0-9]{24}$/);
  }
});
