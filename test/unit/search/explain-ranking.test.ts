import { expect, it } from 'vitest';
import { answerList } from '../../../services/query/answer-list.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { addRules } from '../../../shared/schema/add-rules.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';

const DISH = 'api::dish.dish';
const { registry } = buildRegistry([
  {
    ...({ model: 'contentType', file: 'dish.json', namespace: 'api::dish' } as const),
    json: {
      kind: 'collectionType',
      info: { singularName: 'dish', pluralName: 'dishes', displayName: 'Dish' },
      attributes: { name: { type: 'string' }, sales: { type: 'integer' } },
      pluginOptions: {
        varve: {
          search: {
            ranking: [
              { boost: 'filters[sales][$gt]=5', before: 'typos' },
              { attribute: 'sales', order: 'asc' },
            ],
          },
        },
      },
    },
  },
]);
const RULES = [{ when: 'soup', pin: ['d1'] }];

async function explained(queryString: string) {
  const index = createEmbeddedIndex({ registry });
  const rows = [null, 9, 2].map((sales, at) => {
    const [id, documentId, name] = [at + 1, `d${at + 1}`, 'soup'];
    const source = Buffer.from(JSON.stringify({ id, documentId, name, sales }));
    const fields = { id, documentId, name, sales };
    return { type: DISH, version: 'live', key: id, row: { source, fields, components: {} } } as const;
  });
  await index.apply({ position: 1n, rows, links: [] });
  const ruled = addRules(registry, { [DISH]: RULES });
  const type = contentTypeOf(ruled, DISH);
  const plan = planList({ registry: ruled, type, queryString, defaultLocale: 'en', mayExplain: true });
  const { meta } = JSON.parse((await answerList(index, plan)).toString());
  return meta.explain.ranking as unknown;
}

it('names the rules, boosts and values that order each hit', async () => {
  const [boost] = ['filters[sales][$gt]=5'];
  expect(await explained('search=soup&explain=true')).toEqual({
    rules: RULES,
    hits: [
      { documentId: 'd1', pinned: true, boosts: [], values: { sales: null } },
      { documentId: 'd2', pinned: false, boosts: [boost], values: { sales: 9 } },
      { documentId: 'd3', pinned: false, boosts: [], values: { sales: 2 } },
    ],
  });
});

it('names no rules where they do not count', async () => {
  expect(await explained('sort=name&explain=true')).toBeUndefined();
  expect(await explained('search=soup&sort=name:desc&explain=true')).toMatchObject({
    hits: [{ pinned: false, boosts: [], values: {} }, {}, {}],
  });
});
