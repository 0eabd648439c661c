import { beforeAll, describe, expect, it } from 'vitest';
import { answerBareEntry, answerEntry } from '../../../services/query/answer-entry.ts';
import {
  type AnswerOptions,
  answerBareList,
  answerCount,
  answerList,
} from '../../../services/query/answer-list.ts';
import { planEntry, planList, planUsersList } from '../../../services/query/plan-query.ts';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import type {
  IndexedComponent,
  LinkChange,
  ReadIndex,
  RowChange,
  World,
} from '../../../shared/read-index/read-index.ts';
import { conformanceRegistry, refusalOf, requestOf } from '../../support/naive-schema.ts';

const RESTAURANT = 'api::restaurant.restaurant';
const CHEF = 'api::chef.chef';
const TAG = 'api::tag.tag';
const DISH = 'api::dish.dish';

const component = (
  kind: string,
  key: number,
  fields: Record<string, string | number | boolean>,
  zone = false,
): IndexedComponent => ({
  component: kind,
  key,
  source: Buffer.from(JSON.stringify({ ...(zone ? { __component: kind } : {}), id: key, ...fields })),
  fields: { id: key, ...fields },
  components: {},
});

const row = (
  type: string,
  version: RowChange['version'],
  key: number,
  fields: Record<string, string | number>,
  components: Record<string, IndexedComponent[]> = {},
): RowChange => {
  const all = { id: key, documentId: `d${key}`, ...fields };
  return { type, version, key, row: { source: Buffer.from(JSON.stringify(all)), fields: all, components } };
};

let order = 0;
const link = (
  type: string,
  attribute: string,
  source: number,
  target: number,
  world: World,
  inZone = false,
): LinkChange => ({
  rowSet: { type, path: inZone ? [{ attribute: 'sections', zoneComponent: 'blocks.teaser' }] : [] },
  attribute,
  world,
  source,
  target,
  order: { sourceOrder: ++order, targetOrder: order },
});

let index: ReadIndex;

beforeAll(async () => {
  index = createEmbeddedIndex({ registry: conformanceRegistry() });
  const sections = [
    component('blocks.teaser', 71, { label: 'Try' }, true),
    component('blocks.hero', 72, { headline: 'Hi', big: true }, true),
    component('blocks.hero', 73, { headline: 'Ho', big: false }, true),
  ];
  const address = component('common.address', 81, { city: 'Paris' });
  await index.apply({
    position: 1n,
    rows: [
      row(RESTAURANT, 'published', 1, { key: 'r1', stars: 3 }, { sections, address: [address] }),
      row(RESTAURANT, 'published', 2, { key: 'r2', stars: 5 }),
      row(RESTAURANT, 'draft', 3, { key: 'r3' }),
      row(CHEF, 'published', 11, { key: 'c1', name: 'Anna' }),
      row(CHEF, 'draft', 12, { key: 'c1', name: 'Anna (draft)' }),
      row(TAG, 'live', 21, { key: 't1', name: 'a' }),
      row(TAG, 'live', 22, { key: 't2', name: 'b' }),
      row(DISH, 'published', 31, { key: 'd1', title: 'Soup' }),
    ],
    links: [
      link(RESTAURANT, 'chef', 1, 11, 'published'),
      link(RESTAURANT, 'chef', 2, 11, 'published'),
      link(RESTAURANT, 'chef', 3, 12, 'draft'),
      link(RESTAURANT, 'tags', 1, 22, 'published'),
      link(RESTAURANT, 'tags', 1, 21, 'published'),
      link(RESTAURANT, 'tags', 2, 21, 'published'),
      link(RESTAURANT, 'dishes', 71, 31, 'published', true),
    ],
  });
});

const list = async (query: string, options?: AnswerOptions) =>
  (await answerList(index, planList(requestOf(query)), options)).toString();
const data = async (query: string) => JSON.parse(await list(query)).data;

describe('answerList', () => {
  it('joins stored sources byte by byte', async () => {
    expect(await list('')).toBe(
      '{"data":[{"id":1,"documentId":"d1","key":"r1","stars":3},{"id":2,"documentId":"d2","key":"r2","stars":5}],"meta":{"pagination":{"page":1,"pageSize":25,"pageCount":1,"total":2}}}',
    );
    expect(await list('filters[stars]=9&pagination[limit]=5')).toBe(
      '{"data":[],"meta":{"pagination":{"start":0,"limit":5,"total":0}}}',
    );
  });

  it('shows the requested fields', async () => {
    expect(await data('fields=stars')).toEqual([
      { id: 1, documentId: 'd1', stars: 3 },
      { id: 2, documentId: 'd2', stars: 5 },
    ]);
  });

  it('populates relations in link order, in the world of the request', async () => {
    expect(await data('fields=key&populate[chef][fields]=name&populate[tags][fields]=key')).toEqual([
      {
        id: 1,
        documentId: 'd1',
        key: 'r1',
        chef: { id: 11, documentId: 'd11', name: 'Anna' },
        tags: [
          { id: 22, documentId: 'd22', key: 't2' },
          { id: 21, documentId: 'd21', key: 't1' },
        ],
      },
      {
        id: 2,
        documentId: 'd2',
        key: 'r2',
        chef: { id: 11, documentId: 'd11', name: 'Anna' },
        tags: [{ id: 21, documentId: 'd21', key: 't1' }],
      },
    ]);
    expect(await data('status=draft&fields=key&populate[chef][fields]=name')).toEqual([
      { id: 3, documentId: 'd3', key: 'r3', chef: { id: 12, documentId: 'd12', name: 'Anna (draft)' } },
    ]);
  });

  it('shows null or [] if nothing is linked or a filter removes all rows', async () => {
    expect(await data('filters[stars]=5&fields=id&populate=menu,reviews,address')).toEqual([
      { id: 2, documentId: 'd2', menu: null, reviews: [], address: null },
    ]);
    expect(
      await data(
        'filters[stars]=3&fields=id&populate[chef][filters][name]=x&populate[tags][filters][name]=b&populate[tags][fields]=id',
      ),
    ).toEqual([{ id: 1, documentId: 'd1', chef: null, tags: [{ id: 22, documentId: 'd22' }] }]);
  });

  it('sorts and counts populated rows', async () => {
    const [first] = await data(
      'populate[tags][sort]=name&populate[tags][fields]=id&pagination[limit]=1&fields=id',
    );
    expect(first.tags).toEqual([
      { id: 21, documentId: 'd21', name: 'a' },
      { id: 22, documentId: 'd22', name: 'b' },
    ]);
    expect(await data('fields=id&populate[tags][count]=true')).toMatchObject([
      { tags: { count: 2 } },
      { tags: { count: 1 } },
    ]);
  });

  it('populates a relation and its inverse, level by level', async () => {
    const [first] = await data('fields=id&populate[chef][populate][restaurants][populate][tags][fields]=key');
    expect(
      first.chef.restaurants.map((r: { key: string; tags: unknown[] }) => [r.key, r.tags.length]),
    ).toEqual([
      ['r1', 2],
      ['r2', 1],
    ]);
  });

  it('keeps the order of a dynamic zone, and shows only the requested kinds and components', async () => {
    const zone = async (query: string) => (await data(`filters[stars]=3&fields=id&${query}`))[0].sections;
    expect(await zone('populate=sections')).toEqual([
      { __component: 'blocks.teaser', id: 71, label: 'Try' },
      { __component: 'blocks.hero', id: 72, headline: 'Hi', big: true },
      { __component: 'blocks.hero', id: 73, headline: 'Ho', big: false },
    ]);
    expect(await zone('populate[sections][on][blocks.hero][fields]=headline')).toEqual([
      { __component: 'blocks.hero', id: 72, headline: 'Hi' },
      { __component: 'blocks.hero', id: 73, headline: 'Ho' },
    ]);
    expect(await zone('populate[sections][on][blocks.hero][filters][headline]=Ho')).toEqual([
      { __component: 'blocks.hero', id: 73, headline: 'Ho', big: false },
    ]);
    expect(await zone('populate[sections][populate]=*')).toMatchObject([
      { dishes: [{ title: 'Soup' }] },
      {},
      {},
    ]);
  });

  it('refuses to populate more rows than the budget', async () => {
    await expect(list('populate=tags', { rowBudget: 3 })).resolves.toContain('"tags"');
    await expect(list('populate=tags', { rowBudget: 2 })).rejects.toMatchObject({
      code: 'query-too-large',
      details: { param: 'populate', path: 'tags' },
    });
  });

  it('counts each shown row: a row with two parents counts twice, with all rows below it', async () => {
    // Two restaurants show the same chef, who shows both restaurants each time: 2 + 4 rows.
    await expect(list('populate=chef.restaurants', { rowBudget: 6 })).resolves.toContain('"restaurants"');
    await expect(list('populate=chef.restaurants', { rowBudget: 5 })).rejects.toMatchObject({
      code: 'query-too-large',
    });
    const circle = `populate=${'chef.restaurants.'.repeat(18)}chef`;
    await expect(list(circle)).rejects.toMatchObject({
      code: 'query-too-large',
      details: { param: 'populate' },
    });
  });

  it('counts, and answers bare lists', async () => {
    expect((await answerCount(index, planList(requestOf('filters[stars][$gt]=3')))).toString()).toBe('1');
    const plan = planUsersList(requestOf('sort=name:desc&limit=1', 'tag'));
    expect((await answerBareList(index, plan)).toString()).toBe(
      '[{"id":22,"documentId":"d22","key":"t2","name":"b"}]',
    );
  });
});

describe('answerEntry', () => {
  const entry = async (query: string, documentId: string, name?: string) =>
    (await answerEntry(index, planEntry(requestOf(query, name)), documentId))?.toString() ?? null;

  it('answers one entry of the requested world and locale', async () => {
    expect(await entry('fields=key', 'd1')).toBe('{"data":{"id":1,"documentId":"d1","key":"r1"},"meta":{}}');
    expect(await entry('', 'd3')).toBeNull();
    expect(await entry('status=draft&fields=key', 'd3')).toContain('"key":"r3"');
    expect(await entry('filters[stars]=5', 'd1')).toBeNull();
    expect(await entry('filters[documentId]=d2', 'd1')).toBeNull();
    expect(await entry('locale=*', 'd1', 'article')).toBeNull();
  });

  it('finds bare entries by id', async () => {
    const plan = planEntry(requestOf('fields=name', 'tag'));
    expect((await answerBareEntry(index, plan, 22))?.toString()).toBe(
      '{"id":22,"documentId":"d22","name":"b"}',
    );
    expect(await answerBareEntry(index, plan, 99)).toBeNull();
  });

  it('refuses a request before it queries the index', () => {
    expect(refusalOf(() => planEntry(requestOf('sort=foo'))).message).toBe('Invalid key foo');
  });
});
