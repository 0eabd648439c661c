import { expect, it } from 'vitest';
import { planList } from '../../../services/query/plan-query.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';

const DISH = 'api::dish.dish';

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
        },
        pluginOptions: { varve: { search: { ranking } } },
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

it.each(['secret', 'text', 'nope'])('refuses a rule by %s', (attribute) => {
  const { problems } = built([{ attribute, order: 'asc' }]);
  expect(problems.map(({ path }) => path)).toEqual(['$.pluginOptions.varve.search.ranking[0].attribute']);
});
