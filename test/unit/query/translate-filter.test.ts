import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../../shared/read-index/bool-query.ts';
import { planOf } from '../../support/naive-schema.ts';

const queryOf = (filters: string, name?: string): BoolQuery => planOf(filters, name).search.query;
const term = (field: string, value: string | number | bigint | boolean): BoolQuery => ({
  kind: 'term',
  field,
  value,
});
const exists = (field: string): BoolQuery => ({ kind: 'exists', field });
const not = (query: BoolQuery): BoolQuery => ({ kind: 'bool', must_not: [query] });
const differs = (field: string, query: BoolQuery): BoolQuery => ({
  kind: 'bool',
  filter: [exists(field)],
  must_not: [query],
});
const some = (attribute: string, query: BoolQuery): BoolQuery => ({ kind: 'some', attribute, query });
const ALL: BoolQuery = { kind: 'match_all' };
const NONE: BoolQuery = { kind: 'match_none' };
const orEmpty = (attribute: string, query: BoolQuery): BoolQuery => ({
  kind: 'bool',
  should: [some(attribute, query), not(some(attribute, ALL))],
});

describe('comparisons', () => {
  it.each<[string, BoolQuery]>([
    ['filters[stars]=3', term('stars', 3)],
    ['filters[stars]=%203%20', term('stars', 3)],
    ['filters[stars][$eq]=1e1', term('stars', 10)],
    ['filters[stars]', not(exists('stars'))],
    ['filters[stars][$ne]=3', differs('stars', term('stars', 3))],
    ['filters[stars][$ne]', exists('stars')],
    ['filters[stars][$gt]', NONE],
    ['filters[stars][]=3&filters[stars][]=5', { kind: 'terms', field: 'stars', values: [3, 5] }],
    ['filters[stars][$in]=3', term('stars', 3)],
    ['filters[stars][$in]', NONE],
    ['filters[stars][$notIn][]=3', differs('stars', term('stars', 3))],
    ['filters[stars][$notIn][0]=3&filters[stars][$notIn][1]', NONE],
    [
      'filters[stars][$gte]=3&filters[stars][$lt]=5',
      {
        kind: 'bool',
        filter: [
          { kind: 'range', field: 'stars', gte: 3 },
          { kind: 'range', field: 'stars', lt: 5 },
        ],
      },
    ],
    [
      'filters[stars][$between][]=1&filters[stars][$between][]=4',
      { kind: 'range', field: 'stars', gte: 1, lte: 4 },
    ],
    ['filters[visits]=9007199254740993', term('visits', 9007199254740993n)],
    ['filters[open]=t', term('open', true)],
    ['filters[foundedOn]=2000-01-01T10:00:00Z', term('foundedOn', Date.UTC(2000, 0, 1))],
    ['filters[opensAt]=08:30:00.5', term('opensAt', 30_600_500)],
    ['filters[inspectedAt]=2024-01-01T01:00:00%2B01:00', term('inspectedAt', Date.UTC(2024, 0, 1))],
    ['filters[extra]={"b":1,"a":[]}', term('extra', '{"a": [], "b": 1}')],
    [
      'filters[name][$containsi]=STRASSE',
      { kind: 'text', match: 'contains', field: 'name', value: 'strasse', fold: true },
    ],
    [
      'filters[name][$contains]',
      { kind: 'text', match: 'contains', field: 'name', value: 'null', fold: false },
    ],
    [
      'filters[stars][$startsWithi]=4',
      { kind: 'text', match: 'prefix', field: 'stars', value: '4', fold: true },
    ],
    ['filters[name][$eqi]', not(exists('name'))],
    ['filters[name][$null]=false', exists('name')],
    ['filters[name][$notNull]=0', not(exists('name'))],
    ['filters[documentId][$ne]=x', not(term('documentId', 'x'))],
  ])('%s', (filters, wanted) => {
    expect(queryOf(filters)).toEqual(wanted);
  });
});

describe('groups and negation', () => {
  it('pushes $not down to the comparisons', () => {
    expect(queryOf('filters[$not][stars]=3&filters[$not][open]=true')).toEqual({
      kind: 'bool',
      should: [differs('stars', term('stars', 3)), differs('open', term('open', true))],
    });
    expect(queryOf('filters[$not][stars][$gt]=3')).toEqual({ kind: 'range', field: 'stars', lte: 3 });
    expect(queryOf('filters[$not][$not][stars]=3')).toEqual(term('stars', 3));
    expect(queryOf('filters[stars][$not][$not]=3')).toEqual(term('stars', 3));
  });

  it('never matches null by negating a comparison with null', () => {
    expect(queryOf('filters[$not][stars][$gt]')).toEqual(NONE);
    expect(queryOf('filters[$not][stars][$in]')).toEqual(NONE);
  });

  it('translates a list operand to an OR, also of negations', () => {
    expect(queryOf('filters[name][$contains][]=a&filters[name][$contains][]=b')).toMatchObject({
      kind: 'bool',
      should: [{ value: 'a' }, { value: 'b' }],
    });
    const either = { kind: 'bool', should: [3, 4].map((stars) => differs('stars', term('stars', stars))) };
    expect(queryOf('filters[stars][$ne][]=3&filters[stars][$ne][]=4')).toEqual(either);
    expect(queryOf('filters[stars][$not][]=3&filters[stars][$not][]=4')).toEqual(either);
  });

  it('translates null in a list of $eq to IS NULL, and in $in to nothing', () => {
    const eitherOr = { kind: 'bool', should: [term('name', 'a'), not(exists('name'))] };
    expect(queryOf('filters[name][$eq][]=a&filters[name][$eq][]')).toEqual(eitherOr);
    expect(queryOf('filters[name][$in][]=a&filters[name][$in][]')).toEqual(term('name', 'a'));
    expect(queryOf('filters[name][]=a&filters[name][]')).toEqual(term('name', 'a'));
  });
});

describe('relations, components and zones', () => {
  it('applies the conditions of one mention to one row, and separates mentions', () => {
    expect(queryOf('filters[tags][name]=a&filters[tags][weight]=1')).toEqual(
      some('tags', { kind: 'bool', filter: [term('name', 'a'), term('weight', 1)] }),
    );
    expect(queryOf('filters[$and][0][tags][name]=a&filters[$and][1][tags][weight]=1')).toEqual({
      kind: 'bool',
      filter: [some('tags', term('name', 'a')), some('tags', term('weight', 1))],
    });
  });

  it('does not negate relations under $not', () => {
    expect(queryOf('filters[$not][tags][name]=a')).toEqual(some('tags', differs('name', term('name', 'a'))));
  });

  it('accepts rows without a link if a condition is true of NULL', () => {
    expect(queryOf('filters[chef][$null]=true')).toEqual(not(some('chef', ALL)));
    expect(queryOf('filters[chef][name][$null]=true')).toEqual(orEmpty('chef', not(exists('name'))));
    expect(queryOf('filters[chef][country][$null]=true')).toEqual(orEmpty('chef', not(some('country', ALL))));
    expect(queryOf('filters[$not][chef][name][$notNull]=true')).toEqual(orEmpty('chef', not(exists('name'))));
    expect(queryOf('filters[chef][name][$ne]=x')).toEqual(some('chef', differs('name', term('name', 'x'))));
  });

  it('compares a relation with the row id', () => {
    expect(queryOf('filters[chef]=7')).toEqual(some('chef', term('id', 7)));
    expect(queryOf('filters[chef][$not]=7')).toEqual(some('chef', not(term('id', 7))));
    expect(queryOf('filters[address][$notNull]=true')).toEqual(some('address', ALL));
  });

  it('matches components of one kind in a dynamic zone', () => {
    expect(queryOf('filters[sections][on][blocks.hero][headline]=Hello')).toEqual({
      kind: 'some_in_zone',
      attribute: 'sections',
      component: 'blocks.hero',
      query: term('headline', 'Hello'),
    });
  });
});

describe('conditions of other parameters', () => {
  it('adds the locale on localized types, unless the top of the filter names one', () => {
    expect(queryOf('', 'topic')).toEqual(term('locale', 'en'));
    expect(queryOf('locale=fr', 'topic')).toEqual(term('locale', 'fr'));
    expect(queryOf('locale[]=fr&locale[]=*', 'topic')).toMatchObject({ values: ['fr', '*'] });
    expect(queryOf('locale=*', 'topic')).toEqual(ALL);
    expect(queryOf('filters[locale]=fr', 'topic')).toEqual(term('locale', 'fr'));
    expect(queryOf('filters[locale]=fr&locale=en', 'topic')).toEqual({
      kind: 'bool',
      filter: [term('locale', 'en'), term('locale', 'fr')],
    });
    expect(queryOf('filters[$and][0][locale]=fr', 'topic')).toMatchObject({
      filter: [term('locale', 'en'), {}],
    });
    expect(queryOf('locale=fr')).toEqual(ALL);
  });

  it('adds the publication state on types with draft & publish only', () => {
    expect(queryOf('publicationFilter=modified&status=draft')).toEqual(term('$publication', 'modified'));
    expect(queryOf('hasPublishedVersion=false')).toEqual(term('$documentPublished', false));
    expect(queryOf('publicationFilter=modified&hasPublishedVersion=true')).toEqual(
      term('$publication', 'modified'),
    );
    expect(queryOf('publicationFilter=modified', 'category')).toEqual(ALL);
    const withDraft = 'publicationFilter=published-with-draft';
    expect(queryOf(withDraft)).toMatchObject({ kind: 'terms', field: '$publication' });
    expect(queryOf(`${withDraft}&status=draft`)).toEqual({ kind: 'match_none' });
  });

  it('searches public text columns, and number columns for a number', () => {
    const fields = (q: string, name: string) =>
      (queryOf(`_q=${q}`, name) as unknown as { should: { field: string }[] }).should
        .map(({ field }) => field)
        .sort();
    expect(fields('A', 'chef')).toEqual(['bio', 'documentId', 'id', 'key', 'name']);
    expect(fields('1', 'chef')).toEqual(['age', 'bio', 'documentId', 'id', 'key', 'name']);
    expect(fields('a', 'plugin::users-permissions.user')).toEqual([
      'documentId',
      'email',
      'id',
      'provider',
      'username',
    ]);
  });
});
