import { afterAll, beforeAll, expect, test } from 'vitest';
import { RequestError } from '../../shared/request-error.ts';
import { type CommandWorld, openCommandWorld, type Schemas, schemasOf } from './command-world.ts';

/** Returns attributes that are required while the mode of their entry or component is `link`. */
function conditional(visible: unknown) {
  return {
    mode: { type: 'enumeration', enum: ['link', 'text'] },
    url: { type: 'string', required: true, minLength: 3, conditions: { visible } },
    page: {
      type: 'relation',
      relation: 'oneToOne',
      target: 'api::page.page',
      required: true,
      conditions: { visible },
    },
  };
}

const IS_LINK = { '==': [{ var: 'mode' }, 'link'] };
const SCHEMAS: Schemas = schemasOf(
  {
    page: { options: { draftAndPublish: false }, attributes: { name: { type: 'string' } } },
    post: { attributes: { ...conditional(IS_LINK), part: { type: 'component', component: 'x.part' } } },
    note: { options: { draftAndPublish: false }, attributes: conditional(IS_LINK) },
    calls: { attributes: conditional({ method: [{ var: 'mode' }, 'toUpperCase'] }) },
    logs: { attributes: conditional({ log: 'leak' }) },
  },
  { 'x.part': conditional(IS_LINK) },
);

let world: CommandWorld;
beforeAll(async () => {
  world = await openCommandWorld(SCHEMAS, () => ({ strictRelations: true }));
});
afterAll(() => world.close());

/** Creates an entry. Returns the paths of its problems, or none if it is accepted. */
async function create(name: string, data: object): Promise<readonly string[]> {
  try {
    await world.execute({ kind: 'create', type: `api::${name}.${name}`, body: { data } });
    return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return (error.details['errors'] as { path: string[] }[]).map(({ path }) => path.join('.'));
  }
}

test.each(['post', 'note'])('an attribute of %s is required while its condition holds', async (name) => {
  expect(await create(name, { mode: 'link' })).toEqual(['url', 'page']);
  expect(await create(name, { mode: 'link', url: 'x' })).toEqual(['url', 'page']);
  expect(await create(name, { mode: 'text', url: 'x' })).toEqual([]);
  expect(await create(name, { mode: 'text' })).toEqual([]);
  expect(await create(name, {})).toEqual([]);
});

test('the condition of an attribute of a component is evaluated on the component', async () => {
  expect(await create('post', { mode: 'text', part: { mode: 'link' } })).toEqual(['part.url', 'part.page']);
  expect(await create('post', { mode: 'text', part: { mode: 'text' } })).toEqual([]);
});

test('the stored entry decides when it is published', async () => {
  const type = 'api::post.post';
  const body = { data: { mode: 'link' } };
  const { documentId } = await world.execute({ kind: 'create', type, status: 'draft', body });
  const publish = () => world.execute({ kind: 'publish', type, documentId });
  await expect(publish()).rejects.toMatchObject({ message: '2 errors occurred' });
  const changed = { data: { mode: 'text' } };
  await world.execute({ kind: 'update', type, documentId, status: 'draft', body: changed });
  expect(await publish()).toMatchObject({ documentId });
});

test('a rule cannot call functions or log: the attribute counts as shown', async () => {
  expect(await create('calls', { mode: 'link' })).toEqual(['url', 'page']);
  expect(await create('logs', { mode: 'link' })).toEqual(['url', 'page']);
});
