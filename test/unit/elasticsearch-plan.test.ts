import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planList } from '../../services/query/plan-query.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { createLayouts } from '../../shared/read-index/elasticsearch/layout/create-layouts.ts';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
  type DocumentLayout,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { createIndexNames } from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import { planQuery } from '../../shared/read-index/elasticsearch/plan/plan-query.ts';
import { renderQuery } from '../../shared/read-index/elasticsearch/plan/render-query.ts';
import {
  type Explanation,
  explainSearch,
} from '../../shared/read-index/elasticsearch/read/explain-search.ts';
import type { SearchRequest } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { BOOK, libraryRegistry, TAG, TOWN } from '../contract/read-index-library.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';

const names = createIndexNames('t');
function explainIn(
  registry: SchemaRegistry,
  settings: Partial<DenormaliseSettings>,
  request: SearchRequest,
): Explanation {
  const layouts = createLayouts(registry, { ...DEFAULT_DENORMALISE, ...settings });
  const layoutOf = (type: string) => layouts.get(type) as DocumentLayout;
  return explainSearch({ names, layouts: layoutOf }, request);
}

const library = libraryRegistry();

function explain(type: string, query: BoolQuery, settings: Partial<DenormaliseSettings> = {}): Explanation {
  const request = { type, world: 'published', query, sort: [], from: 0, size: 25, withTotal: true } as const;
  return explainIn(library, settings, request);
}

const some = (attribute: string, query: BoolQuery): BoolQuery => ({ kind: 'some', attribute, query });
const not = (query: BoolQuery): BoolQuery => ({ kind: 'bool', must_not: [query] });
const name = (value: string): BoolQuery => ({ kind: 'term', field: 'name', value });
const ALL: BoolQuery = { kind: 'match_all' };

describe('one mention of a relation', () => {
  it('is an object path if one row is copied, with an exists query only if needed', () => {
    const { dsl, strategies } = explain(BOOK, some('author', name('A')));
    expect(dsl).toEqual({ term: { 'e.author.f.name': { value: 'A' } } });
    expect(strategies).toEqual([
      { path: 'author', strategy: 'object path', why: 'the linked rows are copied into the document' },
    ]);
    expect(explain(BOOK, some('author', not(name('A')))).dsl).toEqual({
      bool: {
        filter: [{ exists: { field: 'e.author.key' } }],
        must_not: [{ term: { 'e.author.f.name': { value: 'A' } } }],
      },
    });
  });

  it('is nested if a list is copied: all its conditions apply to one row, and negations stay inside', () => {
    const { dsl } = explain(BOOK, some('tags', not(name('t'))));
    expect(dsl).toEqual({
      nested: {
        path: 'e.tags',
        query: { bool: { must_not: [{ term: { 'e.tags.f.name': { value: 't' } } }] } },
        score_mode: 'none',
      },
    });
  });

  it('is a semi-join by link field or by key if rows are not copied', () => {
    const owned = explain(BOOK, some('tags', name('t')), { toMany: 0 });
    expect(owned.semiJoins).toEqual([
      { index: 't-api_tag_tag-published', query: { term: { 'f.name': { value: 't' } } }, select: 'key' },
    ]);
    expect(owned.dsl).toEqual({ terms: { 't.tags': ['the keys that semi-join 1 finds'] } });
    const inverse = explain(TOWN, some('authors', ALL));
    expect(inverse.semiJoins).toEqual([
      { index: 't-api_author_author-published', query: { exists: { field: 't.home' } }, select: 't.home' },
    ]);
    expect(inverse.dsl).toEqual({ terms: { key: ['the keys that semi-join 1 finds'] } });
  });

  it('needs no keys to find out that something is linked', () => {
    expect(explain(BOOK, some('tags', ALL), { toMany: 0 })).toMatchObject({
      dsl: { exists: { field: 't.tags' } },
      semiJoins: [],
      strategies: [{ strategy: 'link field' }],
    });
  });

  it('queries the rows themselves for fields that their copies do not have', () => {
    const body: BoolQuery = { kind: 'text', match: 'contains', field: 'body', value: 'long', fold: true };
    const explained = explain(TAG, some('best', body));
    expect(explained.strategies).toEqual([
      { path: 'best', strategy: 'semi-join', why: 'the copies in the document lack the compared field' },
    ]);
    expect(explained.semiJoins[0]?.query).toEqual({ match_phrase: { 'g.body': { query: 'lon ong' } } });
  });

  it('joins at the step that is not copied, inside the copied part', () => {
    const query = some('author', some('home', some('authors', name('B'))));
    const { dsl, strategies } = explain(BOOK, query);
    expect(strategies.map(({ path, strategy }) => [path, strategy])).toEqual([
      ['author', 'object path'],
      ['author.home', 'object path'],
      ['author.home.authors', 'semi-join'],
    ]);
    expect(dsl).toEqual({ terms: { 'e.author.e.home.key': ['the keys that semi-join 1 finds'] } });
  });

  it('reads a column once for two bounds', () => {
    const range = (bounds: object): BoolQuery => ({ kind: 'range', field: 'pages', ...bounds });
    const query: BoolQuery = { kind: 'bool', filter: [range({ gte: 1 }), range({ lt: 5 })] };
    expect(explain(BOOK, query).dsl).toEqual({ range: { 'f.pages': { gte: 1, lt: 5 } } });
  });
});

describe('limits', () => {
  it('refuses a filter that nests deeper than Elasticsearch allows, with the reason', () => {
    let query: BoolQuery = name('x');
    for (let i = 0; i < 30; i++)
      query = { kind: 'bool', should: [not({ kind: 'bool', should: [query, name(`${i}`)] }), name('y')] };
    const layouts = createLayouts(library);
    const plan = planQuery((type) => layouts.get(type) as DocumentLayout, TAG, query);
    const refused = (() => {
      try {
        return renderQuery(plan, () => []);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(RequestError);
    expect(refused).toMatchObject({
      code: 'query-too-large',
      details: { param: 'filters', accepted: expect.stringContaining('30 levels') },
    });
  });

  it('splits keys that exceed the limit of one terms query', () => {
    const layouts = createLayouts(library);
    const values = Array.from({ length: 130_000 }, (_, i) => i);
    const plan = planQuery((type) => layouts.get(type) as DocumentLayout, TAG, {
      kind: 'terms',
      field: 'weight',
      values,
    });
    expect(renderQuery(plan, () => [])).toMatchObject({
      bool: { should: [{ terms: {} }, { terms: {} }, { terms: {} }] },
    });
  });
});

type BenchQuery = { readonly name: string; readonly path: string };

describe('the benchmark queries', () => {
  const file = new URL('../conformance/bench/queries.json', import.meta.url);
  const queries = JSON.parse(readFileSync(file, 'utf8')) as readonly BenchQuery[];
  const schema = conformanceRegistry();

  function explainPath(path: string, settings: Partial<DenormaliseSettings>): Explanation {
    const url = new URL(path, 'http://localhost');
    const plural = url.pathname.split('/').at(-1);
    const type = [...schema.contentTypes.values()].find(({ pluralName }) => pluralName === plural);
    if (type === undefined) throw new Error(`${path}: no such type`);
    const plan = planList({ registry: schema, type, queryString: url.search.slice(1), defaultLocale: 'en' });
    return explainIn(schema, settings, plan.search);
  }

  /** Queries whose filters traverse more than documents copy by default: two to-one relations, or one relation that the type owns. */
  const DEEPER = [
    'deep to-many, 1 level x 2 relations',
    'deep to-many, 2 levels',
    '4 levels from reviews',
    '3 levels with $or',
  ];

  it.each(queries)('$name: one search where its relations are copied by default', ({ name: query, path }) => {
    const { semiJoins, sort } = explainPath(path, {});
    expect(semiJoins.length > 0).toBe(DEEPER.includes(query));
    expect(sort).not.toBeNull();
  });

  it.each(queries)('$name: one search where the settings copy them', ({ path }) => {
    const paths = [
      'reviews',
      'restaurants.reviews',
      'chef.country.continent',
      'restaurant.chef.country.continent',
    ];
    const settings = { paths };
    expect(explainPath(path, settings).semiJoins).toEqual([]);
  });
});
