import { expect, it } from 'vitest';
import { tagsOfList } from '../../../services/delivery/plan-tags.ts';
import { attributeTag } from '../../../services/delivery/tag.ts';
import { checkBoosts } from '../../../services/query/owner-ranking.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';

const DISH = 'api::dish.dish';
const COOK = 'api::cook.cook';

function built(ranking: unknown) {
  return buildRegistry([
    {
      ...({ model: 'contentType', file: 'dish.json', namespace: 'api::dish' } as const),
      json: {
        kind: 'collectionType',
        info: { singularName: 'dish', pluralName: 'dishes', displayName: 'Dish' },
        attributes: {
          name: { type: 'string' },
          text: { type: 'text' },
          sales: { type: 'integer' },
          secret: { type: 'integer', private: true },
          cook: { type: 'relation', relation: 'manyToOne', target: COOK },
        },
        pluginOptions: { varve: { search: { ranking } } },
      },
    },
    {
      ...({ model: 'contentType', file: 'cook.json', namespace: 'api::cook' } as const),
      json: {
        kind: 'collectionType',
        info: { singularName: 'cook', pluralName: 'cooks', displayName: 'Cook' },
        attributes: { name: { type: 'string' } },
      },
    },
  ]);
}

function sortOf(queryString: string, ranking: unknown = []) {
  const { registry } = built(ranking);
  const type = contentTypeOf(registry, DISH);
  return planList({ registry, type, queryString, defaultLocale: 'en' }).search.sort;
}

it('orders entries with the same relevance by the rules of the type, and then by their creation', () => {
  const ranking = [
    { attribute: 'sales', order: 'desc' },
    { attribute: 'name', order: 'asc' },
  ];
  const created = { path: [], field: 'createdAt', direction: 'asc' };
  expect(sortOf('search=soup', ranking)).toEqual([
    { path: [], field: 'sales', direction: 'desc-null-last' },
    { path: [], field: 'name', direction: 'asc' },
    created,
  ]);
  expect(sortOf('search=soup')).toEqual([created]);
  // Other lists keep their order.
  expect(sortOf('facets=sales', ranking)).toEqual([]);
  expect(sortOf('search=soup&sort=name', ranking)).toEqual([{ path: [], field: 'name', direction: 'asc' }]);
});

function placedFor(ranking: unknown, mayFind?: (type: string) => boolean) {
  const { registry, problems } = built(ranking);
  expect(problems).toEqual([]);
  const type = contentTypeOf(registry, DISH);
  const plan = planList({
    ...{ registry, type, queryString: 'search=soup', defaultLocale: 'en' },
    ...(mayFind && { mayFind }),
  });
  return plan.search;
}

it('gives rules with a place before a tier to the search, and resolves the filters of boosts', () => {
  const { text, sort } = placedFor([
    { boost: 'filters[sales][$gt]=2' },
    { boost: 'filters[cook][name]=Ada', before: 'distance' },
    { attribute: 'sales', order: 'desc', before: 'weight' },
    { attribute: 'name', order: 'asc' },
  ]);
  expect(text?.placed).toEqual({
    pinned: [],
    boosts: [
      { before: 'end', query: { kind: 'range', field: 'sales', gt: 2 } },
      {
        before: 'distance',
        query: { kind: 'some', attribute: 'cook', query: { kind: 'term', field: 'name', value: 'Ada' } },
      },
    ],
    keys: [{ path: [], field: 'sales', direction: 'desc-null-last' }],
    keysBefore: 'weight',
  });
  expect(sort).toMatchObject([{ field: 'name' }, { field: 'createdAt' }]);
  expect(placedFor([{ attribute: 'name', order: 'asc' }]).text).not.toHaveProperty('placed');
});

it('omits a boost through a type that the caller may not find', () => {
  const ranking = [{ boost: 'filters[cook][name]=Ada' }, { boost: 'filters[sales]=1' }];
  const { text } = placedFor(ranking, (type) => type !== COOK);
  expect(text?.placed?.boosts.map(({ query }) => query.kind)).toEqual(['term']);
  expect(placedFor(ranking.slice(0, 1), () => false).text).not.toHaveProperty('placed');
});

const RANKING = '$.pluginOptions.varve.search.ranking';

it('does not order by a private time of creation, which no index has', () => {
  const { registry } = built([]);
  const type = { ...contentTypeOf(registry, DISH), privateTimes: ['createdAt' as const] };
  const contentTypes = new Map([...registry.contentTypes, [DISH, type]]);
  const hidden = { ...registry, contentTypes };
  const { search } = planList({ registry: hidden, type, queryString: 'search=soup', defaultLocale: 'en' });
  expect(search.sort).toEqual([]);
});

it('tags an answer with the attributes that boosts and rules before a tier read', () => {
  const { registry } = built([
    { boost: 'filters[cook][name]=Ada' },
    { attribute: 'sales', order: 'desc', before: 'typos' },
  ]);
  const type = contentTypeOf(registry, DISH);
  const plan = planList({ registry, type, queryString: 'search=soup', defaultLocale: 'en' });
  const tags = tagsOfList(registry, plan).fixed;
  for (const [of, attribute] of [
    [DISH, 'sales'],
    [DISH, 'cook'],
    [COOK, 'name'],
  ] as const)
    expect(tags).toContainEqual(attributeTag(of, 'published', attribute));
});

it.each(['secret', 'text', 'nope'])('refuses a rule by %s', (attribute) => {
  const { problems } = built([{ attribute, order: 'asc' }]);
  expect(problems.map(({ path }) => path)).toEqual([`${RANKING}[0].attribute`]);
});

const boost = 'filters[sales]=1';

it.each([
  ['a third boost', [{ boost }, { boost }, { boost }], `${RANKING}[2]`],
  ['a boost after an attribute', [{ attribute: 'sales', order: 'asc' }, { boost }], `${RANKING}[1].boost`],
  [
    'attributes before two tiers',
    [
      { attribute: 'sales', order: 'asc', before: 'typos' },
      { attribute: 'name', order: 'asc', before: 'exact' },
    ],
    `${RANKING}[1].before`,
  ],
  ['an unknown tier', [{ boost, before: 'words' }], `${RANKING}[0]`],
  ['a rule without an order', [{ attribute: 'sales' }], `${RANKING}[0]`],
])('refuses %s', (_, ranking, path) => {
  expect(built(ranking).problems.map((problem) => problem.path)).toEqual([path]);
});

it.each([
  ['a private attribute', 'filters[secret]=1', 'Invalid key secret'],
  ['an unknown operator', 'filters[sales][$near]=1', 'Invalid'],
  ['a value that does not fit', 'filters[sales][$gt]=many', ''],
  ['another parameter', 'sort=sales', 'must be a filter'],
  ['no filter', '', 'must be a filter'],
])('refuses a boost by %s', (_, filter, message) => {
  const [problem, ...others] = checkBoosts(built([{ boost: filter }]).registry);
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ file: DISH, path: `${RANKING}[0].boost` });
  expect(problem?.message).toContain(message);
});
