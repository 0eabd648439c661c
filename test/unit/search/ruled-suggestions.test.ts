import { expect, it } from 'vitest';
import { answerList } from '../../../services/query/answer-list.ts';
import { answerSuggest } from '../../../services/query/answer-suggest.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { planSuggest } from '../../../services/query/plan-suggest.ts';
import { createPreview } from '../../../services/synonyms/preview-rules.ts';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { addRules } from '../../../shared/schema/add-rules.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { SearchRule } from '../../../shared/schema/search-rules.ts';

const DISH = 'api::dish.dish';
const { registry } = buildRegistry([
  {
    ...({ model: 'contentType', file: 'dish.json', namespace: 'api::dish' } as const),
    json: {
      kind: 'collectionType',
      info: { singularName: 'dish', pluralName: 'dishes', displayName: 'Dish' },
      attributes: { name: { type: 'string' }, size: { type: 'integer' } },
    },
  },
]);
const index = createEmbeddedIndex({ registry });
const DISHES = [
  ['Tomato & soup', 10],
  ['Onion soup, rye', 10],
  ['Bread', 9],
] as const;
await index.apply({
  position: 1n,
  links: [],
  rows: DISHES.map(([name, size], at) => {
    const fields = { id: at + 1, documentId: `d${at + 1}`, name, size };
    const source = Buffer.from(JSON.stringify(fields));
    return { type: DISH, version: 'live', key: at + 1, row: { source, fields, components: {} } } as const;
  }),
});
const BEST: SearchRule = { when: 'best', match: 'contains', filter: 'filters[size][$gt]=9' };

function requestOf(queryString: string, rules: readonly SearchRule[] = []) {
  const ruled = addRules(registry, { [DISH]: rules });
  return { registry: ruled, type: contentTypeOf(ruled, DISH), queryString, defaultLocale: 'en' };
}

async function suggested(queryString: string, rules?: readonly SearchRule[]) {
  return String(await answerSuggest(index, planSuggest(requestOf(queryString, rules))));
}

async function suggestion(queryString: string, rules?: readonly SearchRule[]) {
  const { meta } = JSON.parse(String(await answerList(index, planList(requestOf(queryString, rules)))));
  return meta.search.suggestion as unknown;
}

it('has the titles that a filter finds in place of all words', async () => {
  const titles = [
    { documentId: 'd1', title: 'Tomato & soup', highlighted: 'Tomato &amp; soup' },
    { documentId: 'd2', title: 'Onion soup, rye', highlighted: 'Onion soup, rye' },
  ];
  expect(JSON.parse(await suggested('q=best', [BEST]))).toEqual({
    data: { words: [], titles },
    meta: { total: 2 },
  });
  expect(JSON.parse(await suggested('q=best'))).toMatchObject({ data: { titles: [] }, meta: { total: 0 } });
  expect(JSON.parse(await suggested('q=%2B', [BEST]))).toMatchObject({ data: { titles: [] } });
});

it('keeps the order of values that are numbers', async () => {
  expect(await suggested('q=so&facets=size')).toContain('"facets":{"size":{"10":2}}');
  expect(await suggested('q=best&facets=size', [{ ...BEST, filter: 'filters[size][$gt]=1' }])).toContain(
    '"facets":{"size":{"10":2,"9":1}}',
  );
});

it('proposes no other query for words that a filter has replaced', async () => {
  expect(await suggestion('search=best rya', [BEST])).toBeUndefined();
  expect(await suggestion('search=rya', [BEST])).toBe('rye');
  expect(await suggestion('search=rya', [{ when: 'rya', hide: ['d3'] }])).toBe('rye');
});

it.each([
  [true, ['Tomato & soup', 'Onion soup, rye']],
  [false, []],
])(
  'previews rules as the installation compares texts: ignoring case is %s',
  async (containsIgnoresCase, names) => {
    const additions = () => ({ synonyms: {}, rules: {} });
    const options = { registry, index, defaultLocale: 'en', rules: { containsIgnoresCase }, additions };
    const rules = [{ when: 'best', filter: 'filters[name][$contains]=SOUP' }];
    const { data } = await createPreview(options)({ type: DISH, rules, search: 'best', locale: 'en' });
    expect(data).toEqual(names.map((name) => expect.objectContaining({ name })));
  },
);
