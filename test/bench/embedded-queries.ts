import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import type { SearchRequest, SortKey, World } from '../../shared/read-index/read-index.ts';
import { CONTINENTS, KINDS, type Random, uid, WORDS } from './embedded-data.ts';

/** The queries of `test/conformance/bench/queries.json`, as the translator gives them to the index. */

const NEEDLES =
  'dragon door garden kitchen olive lotus anchor fox table spoon pizzeria bistro noodle harbor lantern grill market'.split(
    ' ',
  );

const term = (field: string, value: Scalar): BoolQuery => ({ kind: 'term', field, value });
const some = (attribute: string, query: BoolQuery): BoolQuery => ({ kind: 'some', attribute, query });
const all = (...filter: BoolQuery[]): BoolQuery => ({ kind: 'bool', filter });
const any = (...should: BoolQuery[]): BoolQuery => ({ kind: 'bool', should });
const atLeast = (field: string, gte: Scalar): BoolQuery => ({ kind: 'range', field, gte });
const containsi = (field: string, value: string): BoolQuery => ({
  kind: 'text',
  match: 'contains',
  field,
  value,
  fold: true,
});
const by = (field: string, direction: 'asc' | 'desc' = 'asc', path: readonly string[] = []): SortKey => ({
  path,
  field,
  direction,
});

export type BenchmarkQuery = { readonly name: string; readonly make: (random: Random) => SearchRequest };

function request(
  type: string,
  query: BoolQuery,
  from: number,
  more: Partial<SearchRequest> = {},
): SearchRequest {
  const world: World = 'published';
  return { type: uid(type), world, query, sort: [], from, size: 25, withTotal: true, ...more };
}

export const BENCHMARK_QUERIES: readonly BenchmarkQuery[] = [
  { name: 'plain page', make: (r) => request('restaurant', { kind: 'match_all' }, r.below(9900)) },
  {
    name: 'plain page, no count',
    make: (r) => request('restaurant', { kind: 'match_all' }, r.below(9900), { withTotal: false }),
  },
  {
    name: 'eq filters',
    make: (r) =>
      request('restaurant', all(term('kind', r.pick(KINDS)), term('stars', r.below(6))), r.below(200)),
  },
  {
    name: 'range + sort',
    make: (r) => {
      const bounds = { gte: r.between(1510, 2599) / 100, lte: r.between(5510, 6599) / 100 };
      const query: BoolQuery = { kind: 'range', field: 'price', ...bounds };
      return request('restaurant', query, 0, { sort: [by('rating', 'desc'), by('price')] });
    },
  },
  {
    name: 'containsi',
    make: (r) =>
      request('restaurant', containsi('name', `${r.pick(NEEDLES)} ${r.between(1, 9)}`), r.below(30)),
  },
  {
    name: 'deep to-one, 2 levels',
    make: (r) =>
      request(
        'restaurant',
        some('chef', some('country', term('name', `Country ${r.below(200)}`))),
        r.below(20),
      ),
  },
  {
    name: 'deep to-many, 2 relations',
    make: (r) => {
      const tags = some('tags', containsi('name', r.pick(WORDS)));
      return request(
        'restaurant',
        all(tags, some('reviews', atLeast('score', r.between(8, 10)))),
        r.below(50),
      );
    },
  },
  {
    name: 'deep to-many, 2 levels',
    make: (r) => {
      const reviews = some('restaurants', some('reviews', term('score', r.below(11))));
      return request('chef', all(reviews, some('restaurants', term('stars', r.below(6)))), r.below(100));
    },
  },
  {
    name: '3 levels with $or',
    make: (r) => {
      const deep = some('chef', some('country', some('continent', term('name', r.pick(CONTINENTS)))));
      const tags = some('tags', containsi('name', r.pick(WORDS)));
      return request('restaurant', any(deep, tags, term('stars', r.below(6))), r.below(40));
    },
  },
  {
    name: '4 levels from reviews',
    make: (r) => {
      const deep = some('chef', some('country', some('continent', term('name', r.pick(CONTINENTS)))));
      return request(
        'review',
        all(some('restaurant', deep), atLeast('score', r.between(7, 9))),
        r.below(500),
      );
    },
  },
  {
    name: 'draft deep',
    make: (r) => {
      const category = some('category', atLeast('priority', r.between(6, 9)));
      const query = all(some('chef', term('active', r.chance(0.5))), category);
      return request('restaurant', query, r.below(900), { world: 'draft' });
    },
  },
  {
    name: 'sort through to-one + deep page',
    make: (r) => {
      const first = by('name', r.pick(['asc', 'desc'] as const), ['chef']);
      const second = by(r.pick(['name', 'price']), r.pick(['asc', 'desc'] as const));
      return request('restaurant', { kind: 'match_all' }, r.between(4000, 5900), { sort: [first, second] });
    },
  },
];
