import { describe, expect, it } from 'vitest';
import { planInstant } from '../../../services/instant-search/plan-query.ts';
import { readQueries } from '../../../services/instant-search/read-request.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { parseRules } from '../../../services/synonyms/rule-resources.ts';
import { requireTypeOf } from '../../../services/synonyms/synonym-resources.ts';
import type { RequestError } from '../../../shared/request-error.ts';
import { addRules } from '../../../shared/schema/add-rules.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { SearchRule } from '../../../shared/schema/search-rules.ts';

const DISH = 'api::dish.dish';
const COOK = 'api::cook.cook';
const { registry } = buildRegistry(
  [
    {
      name: 'dish',
      plural: 'dishes',
      attributes: {
        name: { type: 'string' },
        sales: { type: 'integer' },
        secret: { type: 'integer', private: true },
        cook: { type: 'relation', relation: 'manyToOne', target: COOK },
      },
    },
    { name: 'cook', plural: 'cooks', attributes: { name: { type: 'string' } } },
  ].map(({ name, plural, attributes }) => ({
    ...({ model: 'contentType', file: `${name}.json`, namespace: `api::${name}` } as const),
    json: {
      kind: 'collectionType',
      info: { singularName: name, pluralName: plural, displayName: name },
      attributes,
    },
  })),
);

function planned(queryString: string, rules: readonly SearchRule[], mayFind?: (type: string) => boolean) {
  const ruled = addRules(registry, { [DISH]: rules });
  // Routes know the content types without rules.
  const type = contentTypeOf(registry, DISH);
  const { search } = planList({
    ...{ registry: ruled, type, queryString, defaultLocale: 'en' },
    ...(mayFind && { mayFind }),
  });
  return {
    query: search.query,
    text: search.text?.query,
    pinned: search.text?.placed?.pinned,
    sort: search.sort,
  };
}

const soup: SearchRule = { when: 'Tomato soup', pin: ['a', 'b'] };
const inPlan = (filter: string) => planned(filter, []).query;

describe('rules for searches with certain words', () => {
  it.each([
    ['the words', 'search=tomato%20SOUP', ['a', 'b']],
    ['the words and signs', 'search=tomato,%20soup!', ['a', 'b']],
    ['more words', 'search=red%20tomato%20soup', undefined],
    ['fewer words', 'search=soup', undefined],
    ['no search', 'facets=sales', undefined],
  ])('an exact rule and %s', (_, queryString, pinned) => {
    expect(planned(queryString, [soup]).pinned).toEqual(pinned);
  });

  it.each([
    ['search=red%20tomato%20soup%20today', ['a', 'b']],
    ['search=tomato%20red%20soup', undefined],
  ])('a rule that the search contains: %s', (queryString, pinned) => {
    expect(planned(queryString, [{ ...soup, match: 'contains' }]).pinned).toEqual(pinned);
  });

  it('counts in its locale only', () => {
    const rules: readonly SearchRule[] = [{ ...soup, locale: 'de' }];
    expect(planned('search=tomato soup', rules).pinned).toBeUndefined();
    expect(planned('search=tomato soup&locale=de', rules).pinned).toEqual(['a', 'b']);
    expect(planned('search=tomato soup&locale=*', rules).pinned).toEqual(['a', 'b']);
  });

  it('hides entries, also under another order, and adds the rules up', () => {
    const rules: readonly SearchRule[] = [
      soup,
      { when: 'soup', match: 'contains', hide: ['x', 'y'], pin: ['b', 'c'] },
    ];
    const hidden = {
      kind: 'bool',
      must_not: [{ kind: 'terms', field: 'documentId', values: ['x', 'y'] }],
    };
    const { query, pinned } = planned('search=tomato soup', rules);
    expect(pinned).toEqual(['a', 'b', 'c']);
    expect(query).toEqual(hidden);
    const many = ['x', 'y'].map((prefix): SearchRule => {
      return {
        when: 'soup',
        match: 'contains',
        pin: Array.from({ length: 20 }, (_, at) => `${prefix}${at}`),
      };
    });
    expect(planned('search=tomato soup', [soup, ...many]).pinned).toEqual([
      'a',
      'b',
      ...(many[0]?.pin ?? []).slice(0, 18),
    ]);
    expect(planned('search=soup&sort=name', rules)).toMatchObject({ query: hidden, pinned: undefined });
  });

  it('searches with a filter in place of the words', () => {
    const rules: readonly SearchRule[] = [
      { when: 'best', match: 'contains', filter: 'filters[sales][$gt]=9' },
    ];
    const filter = inPlan('filters[sales][$gt]=9');
    const created = [{ path: [], field: 'createdAt', direction: 'asc' }];
    expect(planned('search=the best soup', rules)).toMatchObject({ query: filter, text: 'the soup' });
    expect(planned('search=best', rules)).toEqual({
      query: filter,
      text: undefined,
      pinned: undefined,
      sort: created,
    });
    expect(planned('search=best&sort=name', rules).sort).toMatchObject([{ field: 'name' }]);
  });

  it('ignores a filter through a type that the caller may not find', () => {
    const rules: readonly SearchRule[] = [
      { when: 'by ada', match: 'contains', filter: 'filters[cook][name]=Ada' },
    ];
    expect(planned('search=soup by ada', rules).text).toBe('soup ');
    const { query, text } = planned('search=soup by ada', rules, (type) => type !== COOK);
    expect({ query, text }).toEqual({ query: { kind: 'match_all' }, text: 'soup by ada' });
  });

  it('counts in the protocol of Algolia too', () => {
    const rules: readonly SearchRule[] = [
      soup,
      { when: 'best', filter: 'filters[sales][$gt]=9', hide: ['x'] },
    ];
    const ruled = addRules(registry, { [DISH]: rules });
    const plan = (query: string, enableRules?: boolean) => {
      const [one] = readQueries({ requests: [{ indexName: 'dishes', query, enableRules }] });
      if (one === undefined) throw new Error('there is one query');
      return planInstant(one, { registry: ruled, defaultLocale: 'en', caller: {}, rules: {} }).search;
    };
    expect(plan('tomato soup').text?.placed?.pinned).toEqual(['a', 'b']);
    const { query, text } = plan('best');
    expect(text).toBeUndefined();
    expect(JSON.stringify(query)).toContain('"gt":9');
    expect(JSON.stringify(query)).toContain('"values":["x"]');
    expect(plan('best', true)).toEqual(plan('best'));
    const without = plan('best', false);
    expect(without.text?.query).toBe('best');
    expect(JSON.stringify(without.query)).not.toContain('"values":["x"]');
    expect(plan('tomato soup', false).text?.placed).toBeUndefined();
  });
});

it('ignores the case of texts where the installation does, also in the protocol of Algolia', () => {
  const rules = [{ when: 'best', filter: 'filters[name][$contains]=Soup' }];
  const ruled = addRules(registry, { [DISH]: rules });
  const [query] = readQueries({ requests: [{ indexName: 'dishes', query: 'best' }] });
  if (query === undefined) throw new Error('there is one query');
  const found = [true, false].map((containsIgnoresCase) => {
    const settings = { registry: ruled, defaultLocale: 'en' };
    const { search } = planInstant(query, { ...settings, caller: {}, rules: { containsIgnoresCase } });
    const type = contentTypeOf(registry, DISH);
    const list = planList({ ...settings, type, queryString: 'search=best', containsIgnoresCase });
    expect(search.query).toEqual(list.search.query);
    return JSON.stringify(search.query);
  });
  expect(found).toEqual([expect.stringContaining('"soup"'), expect.stringContaining('"Soup"')]);
});

function problemsOf(data: unknown): unknown {
  try {
    return parseRules(data, DISH, registry);
  } catch (error) {
    return (error as RequestError).details['errors'];
  }
}

it.each([
  ['no words', [{ when: '+', pin: ['a'] }], '0.when', 'expected at least one word'],
  ['no effect', [{ when: 'soup' }], '0', 'expected pin, hide or filter'],
  ['another member', [{ when: 'soup', pin: ['a'], boost: 1 }], '0', 'boost'],
  ['too many pins', [{ when: 'soup', pin: Array.from({ length: 21 }, String) }], '0.pin', '20'],
  [
    'a private attribute',
    [soup, { when: 'soup', filter: 'filters[secret]=1' }],
    '1.filter',
    'Invalid key secret',
  ],
  ['no filter', [{ when: 'soup', filter: 'sort=name' }], '0.filter', 'must be a filter'],
  ['an object', { when: 'soup' }, 'data', 'array'],
])('refuses rules with %s', (_, data, path, message) => {
  expect(problemsOf(data)).toMatchObject([{ path, message: expect.stringContaining(message) }]);
});

it('accepts rules of a content type only', () => {
  expect(problemsOf([soup])).toEqual([soup]);
  expect(requireTypeOf('rules', DISH, registry)).toBe(DISH);
  expect(() => requireTypeOf('rules', '*', registry)).toThrow('must be the uid of a content type, got "*"');
});
