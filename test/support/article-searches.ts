import fc from 'fast-check';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { FacetRequest } from '../../shared/read-index/facets.ts';
import type { ReadIndex, SearchRequest, SortKey } from '../../shared/read-index/read-index.ts';
import type { PlacedRules, RankKey, RankPlace, WordsRequest } from '../../shared/read-index/text-search.ts';
import {
  ARTICLE,
  type Article,
  article,
  articleChange,
  renaming,
  type Tagging,
  tagChange,
  tagging,
  tagLink,
  tagName,
  typedQuery,
} from './searched-articles.ts';

/** Random edits of articles, with random searches after each. */

/** The content that the index should find. */
export type ArticleWorld = {
  readonly articles: Map<string, Article>;
  readonly tags: Map<string, Set<number>>;
  readonly tagNames: Map<number, string>;
};

export function createArticleWorld(): ArticleWorld {
  return { articles: new Map(), tags: new Map(), tagNames: new Map() };
}

export function nameOfTag({ tagNames }: ArticleWorld, tag: number): string {
  return tagNames.get(tag) ?? tagName(tag);
}

const place = fc.constantFrom<RankPlace>('typos', 'distance', 'weight', 'exact', 'end');
const boost = fc.constantFrom<BoolQuery>(
  { kind: 'term', field: 'stars', value: 2 },
  { kind: 'some', attribute: 'tags', query: { kind: 'term', field: 'name', value: 'Same' } },
);

/** Generates the owner's rules. Keys have a place before a tier. */
const placedRules: fc.Arbitrary<PlacedRules> = fc.record({
  pinned: fc.constantFrom<readonly string[]>([], [], ['d3', 'd1']),
  boosts: fc.array(fc.record({ query: boost, before: place }), { maxLength: 2 }),
  keys: fc.constantFrom<readonly RankKey[]>([], [{ path: [], field: 'stars', direction: 'desc-null-last' }]),
  keysBefore: place.filter((each) => each !== 'end'),
});

const searched = fc.record({
  query: typedQuery,
  world: fc.constantFrom('draft', 'published'),
  locales: fc.constantFrom<'all' | string[]>('all', ['en'], ['fr'], ['en', 'fr'], ['de'], ['de', 'en']),
  fields: fc.constantFrom(undefined, ['title'], ['body', 'code'], ['tags.name', 'title']),
  typoTolerance: fc.constantFrom(true, true, false),
  stars: fc.constantFrom(undefined, 1, 2),
  /** True: rows with the same relevance come in the order of their stars. */
  isByStars: fc.boolean(),
  placed: fc.option(placedRules, { nil: undefined }),
  words: fc.constantFrom<WordsRequest | undefined>(
    undefined,
    { kind: 'completed', limit: 4 },
    { kind: 'similar', limit: 100 },
  ),
  from: fc.constantFrom(0, 0, 3),
  size: fc.constantFrom(2, 5, 100),
});
export type ArticleSearch = typeof searched extends fc.Arbitrary<infer S> ? S : never;

const edits = {
  articles: fc.array(fc.tuple(article, fc.nat(4)), { maxLength: 14 }),
  tags: fc.array(tagging, { maxLength: 8 }),
  renamed: fc.array(renaming, { maxLength: 2 }),
};

/** Generates steps: edits, and then at most `most` searches. */
export const searchSteps = (most: number) =>
  fc.record({ ...edits, requests: fc.array(searched, { minLength: Math.ceil(most / 4), maxLength: most }) });
export type SearchStep = ReturnType<typeof searchSteps> extends fc.Arbitrary<infer S> ? S : never;

const FACETS: readonly FacetRequest[] = [
  { path: [], field: 'stars', type: 'integer', limit: 10 },
  { path: ['tags'], field: 'name', type: 'string', limit: 10 },
  { path: ['tags'], field: 'name', type: 'string', limit: 1, search: 'ta' },
  {
    ...{ path: [], field: 'stars', type: 'integer', limit: 10 },
    ranges: [
      { name: '..2', to: 2 },
      { name: '1..3', from: 1, to: 3 },
    ],
  },
];

const BY_STARS: readonly SortKey[] = [{ path: [], field: 'stars', direction: 'desc-null-last' }];

/** Applies the edits of a step to the indices and to their expected content. */
export async function applyStep(
  indices: readonly ReadIndex[],
  world: ArticleWorld,
  { articles, tags, renamed }: SearchStep,
  position: bigint,
): Promise<void> {
  const rows = articles.map(([written, luck]) => {
    const isGone = luck === 0;
    const known = [...world.articles.values()].find(({ key }) => key === written.key);
    // An edit does not change a row's version.
    const row = { ...written, version: known?.version ?? written.version };
    const name = `${row.version} ${row.key}`;
    if (!isGone) world.articles.set(name, row);
    else {
      world.articles.delete(name);
      world.tags.delete(name);
    }
    return articleChange(row, isGone);
  });
  for (const { tag, name } of renamed) {
    world.tagNames.set(tag, name);
    rows.push(tagChange(tag, name));
  }
  for (const tagged of tags) note(world, tagged);
  const batch = { position, rows, links: tags.map(tagLink) };
  for (const index of indices) await index.apply(batch);
}

function note({ articles, tags }: ArticleWorld, { key, tag, isTagged, world }: Tagging): void {
  const name = `${world} ${key}`;
  if (!articles.has(name)) return;
  const known = tags.get(name) ?? new Set();
  tags.set(name, known);
  if (isTagged) known.add(tag);
  else known.delete(tag);
}

export function searchRequest({
  query,
  world,
  locales,
  fields,
  typoTolerance,
  stars,
  isByStars,
  placed,
  words,
  from,
  size,
}: ArticleSearch): SearchRequest {
  return {
    ...{ type: ARTICLE, world, sort: isByStars ? BY_STARS : [], from, size, withTotal: true, facets: FACETS },
    query: { kind: 'bool', filter: filtersOf(stars, locales) },
    text: {
      ...{ query, locales, typoTolerance, isRanked: true },
      ...(fields && { fields: new Set(fields) }),
      ...(words && { words }),
      ...(placed && { placed }),
    },
  };
}

/** Returns the filters of a search. The locale is one of them, as in every list. */
function filtersOf(stars: ArticleSearch['stars'], locales: ArticleSearch['locales']): BoolQuery[] {
  return [
    ...(stars === undefined ? [] : [{ kind: 'term', field: 'stars', value: stars } as const]),
    ...(locales === 'all' ? [] : [{ kind: 'terms', field: 'locale', values: locales } as const]),
  ];
}
