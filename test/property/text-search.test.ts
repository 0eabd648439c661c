import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { FacetRequest } from '../../shared/read-index/facets.ts';
import type { ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import { createTurns, type Turns } from '../../shared/turns/turns.ts';
import { type NaiveRow, searchNaively } from '../support/naive-text-search.ts';
import {
  ARTICLE,
  ARTICLE_FIELDS,
  type Article,
  article,
  articleChange,
  articleRegistry,
  type Tagging,
  tagChanges,
  tagging,
  tagLink,
  tagName,
  typedQuery,
} from '../support/searched-articles.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 60);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
const registry = articleRegistry();

/** What is there, beside the index. */
type World = { readonly articles: Map<string, Article>; readonly tags: Map<string, Set<number>> };

const step = fc.record({
  articles: fc.array(fc.tuple(article, fc.nat(4)), { maxLength: 14 }),
  tags: fc.array(tagging, { maxLength: 8 }),
  requests: fc.array(
    fc.record({
      query: typedQuery,
      world: fc.constantFrom('draft', 'published'),
      locales: fc.constantFrom<'all' | string[]>('all', ['en'], ['fr'], ['en', 'fr'], ['de']),
      fields: fc.constantFrom(undefined, ['title'], ['body', 'code']),
      typoTolerance: fc.constantFrom(true, true, false),
      stars: fc.constantFrom(undefined, 1, 2),
      from: fc.constantFrom(0, 0, 3),
      size: fc.constantFrom(2, 5, 100),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Request = Step['requests'][number];

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

/** Each slice ends at the first look at the clock that it may end at. */
function shortSlices(): Turns {
  let time = 0;
  return createTurns({ now: () => time++, defer: setImmediate, sliceMs: 2, graceMs: 2, steps: 1 });
}

describe.each([
  ['at a stretch', () => createTurns({ sliceMs: Number.POSITIVE_INFINITY })],
  ['in slices', shortSlices],
])('search by words, %s', (_, turns) => {
  it('finds, orders and counts what a naive evaluator does, under edits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const index = createEmbeddedIndex({ registry, turns: turns(), reuseOrdinalsAfter: 2 });
        const world: World = { articles: new Map(), tags: new Map() };
        await index.apply({ position: 1n, rows: tagChanges(), links: [] });
        for (const [at, each] of steps.entries()) {
          await change(index, world, each, BigInt(at + 2));
          // Reads words meanwhile.
          if (at === 1) void index.warm?.();
          for (const request of each.requests) {
            expect(await ask(index, request)).toEqual(askNaively(world, request));
          }
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

async function change(
  index: ReadIndex,
  world: World,
  { articles, tags }: Step,
  position: bigint,
): Promise<void> {
  const rows = articles.map(([written, luck]) => {
    const isGone = luck === 0;
    const known = [...world.articles.values()].find(({ key }) => key === written.key);
    // A row keeps its version.
    const row = { ...written, version: known?.version ?? written.version };
    const name = `${row.version} ${row.key}`;
    if (!isGone) world.articles.set(name, row);
    else {
      world.articles.delete(name);
      world.tags.delete(name);
    }
    return articleChange(row, isGone);
  });
  for (const tagged of tags) note(world, tagged);
  await index.apply({ position, rows, links: tags.map(tagLink) });
}

function note({ articles, tags }: World, { key, tag, isTagged, world }: Tagging): void {
  const name = `${world} ${key}`;
  if (!articles.has(name)) return;
  const known = tags.get(name) ?? new Set();
  tags.set(name, known);
  if (isTagged) known.add(tag);
  else known.delete(tag);
}

async function ask(
  index: ReadIndex,
  { query, world, locales, fields, typoTolerance, stars, from, size }: Request,
) {
  const request: SearchRequest = {
    ...{ type: ARTICLE, world, sort: [], from, size, withTotal: true, facets: FACETS },
    query: { kind: 'bool', filter: filtersOf(stars, locales) },
    text: { query, locales, typoTolerance, isRanked: true, ...(fields && { fields: new Set(fields) }) },
  };
  const { total, hits, facets } = await index.search(request);
  return { total, ids: hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id), facets };
}

/** The locale is a filter too, as in every list. */
function filtersOf(stars: Request['stars'], locales: Request['locales']): BoolQuery[] {
  return [
    ...(stars === undefined ? [] : [{ kind: 'term', field: 'stars', value: stars } as const]),
    ...(locales === 'all' ? [] : [{ kind: 'terms', field: 'locale', values: locales } as const]),
  ];
}

function askNaively({ articles, tags }: World, request: Request) {
  const { stars, from, size, world, fields } = request;
  const inWorld = [...articles.values()].filter(({ version }) => version === world);
  const rows = inWorld.map(({ key, locale, texts }): NaiveRow => ({ id: key, locale, texts }));
  const starsOf = (id: number) => articles.get(`${world} ${id}`)?.stars ?? null;
  const search = { ...request, fields: fields && new Set(fields) } as Parameters<typeof searchNaively>[2];
  const found = searchNaively(rows, ARTICLE_FIELDS, search, ({ id, locale }) => {
    const isWanted = request.locales === 'all' || request.locales.includes(locale);
    return isWanted && (stars === undefined || starsOf(id) === stars);
  });
  const ids = found.map(({ id }) => id);
  const named = ids.map((id) => new Set([...(tags.get(`${world} ${id}`) ?? [])].map(tagName)));
  const given = ids.flatMap((id) => starsOf(id) ?? []);
  const names = counted(named.flatMap((of) => [...of]));
  const inRange = (from: number, to: number) => given.filter((value) => value >= from && value < to).length;
  const sum = given.reduce((total, value) => total + value, 0);
  const stats = { min: Math.min(...given), max: Math.max(...given), sum, avg: sum / given.length };
  return {
    total: ids.length,
    ids: ids.slice(from, from + size),
    facets: [
      { values: counted(given.map(String)), ...(given.length === 0 ? {} : { stats }) },
      { values: names },
      { values: names.filter(({ value }) => value.startsWith('Ta')).slice(0, 1) },
      {
        values: [
          { value: '..2', count: inRange(0, 2) },
          { value: '1..3', count: inRange(1, 3) },
        ],
      },
    ],
  };
}

function counted(values: readonly string[]) {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
