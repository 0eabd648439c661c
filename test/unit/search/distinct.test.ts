import { expect, it } from 'vitest';
import { tagsOfList } from '../../../services/delivery/plan-tags.ts';
import { attributeTag } from '../../../services/delivery/tag.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';

const DISH = 'api::dish.dish';

function built(distinct: unknown) {
  return buildRegistry([
    {
      ...({ model: 'contentType', file: 'dish.json', namespace: 'api::dish' } as const),
      json: {
        kind: 'collectionType',
        info: { singularName: 'dish', pluralName: 'dishes', displayName: 'Dish' },
        attributes: {
          family: { type: 'string' },
          text: { type: 'text' },
          sales: { type: 'integer' },
          secret: { type: 'string', private: true },
        },
        pluginOptions: { varve: { search: { distinct } } },
      },
    },
  ]);
}

it('plans groups, and tags the list with the attribute that groups it', () => {
  const { registry, problems } = built('family');
  expect(problems).toEqual([]);
  const type = contentTypeOf(registry, DISH);
  const plan = (queryString: string) => planList({ registry, type, queryString, defaultLocale: 'en' });
  expect(plan('distinct[family][limit]=3').search.groups).toEqual({ field: 'family', limit: 3 });
  expect(plan('distinct=documentId').search.groups).toEqual({ field: 'documentId', limit: 1 });
  for (const none of ['', 'distinct=', 'distinct']) expect(plan(none).search).not.toHaveProperty('groups');
  const tag = attributeTag(DISH, 'published', 'family');
  expect(tagsOfList(registry, plan('distinct=family')).fixed).toContainEqual(tag);
  expect(tagsOfList(registry, plan('facets=sales')).fixed).not.toContainEqual(tag);
});

it.each(['secret', 'text', 'sales', 'nope', ''])('refuses the option distinct with %j', (attribute) => {
  expect(built(attribute).problems.map(({ path }) => path)).toEqual([
    '$.pluginOptions.varve.search.distinct',
  ]);
});

it.each([3, ['family'], null])('refuses the option distinct with %j', (option) => {
  expect(built(option).problems).not.toEqual([]);
});
