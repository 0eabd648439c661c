import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { PlacedRules, RankPlace } from '../../shared/read-index/text-search.ts';
import { createTurns, type Turns } from '../../shared/turns/turns.ts';
import {
  type ArticleSearch,
  type ArticleWorld,
  applyStep,
  createArticleWorld,
  nameOfTag,
  searchRequest,
  searchSteps,
} from '../support/article-searches.ts';
import { type NaiveRow, searchNaively } from '../support/naive-text-search.ts';
import { ARTICLE_FIELDS, articleRegistry, tagChanges } from '../support/searched-articles.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 60);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = articleRegistry();

/** Creates turns whose slices end at the first look at the clock. */
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
      fc.asyncProperty(fc.array(searchSteps(4), { minLength: 1, maxLength: 4 }), async (steps) => {
        const index = createEmbeddedIndex({ registry, turns: turns(), reuseOrdinalsAfter: 2 });
        const world = createArticleWorld();
        await index.apply({ position: 1n, rows: tagChanges(), links: [] });
        for (const [at, each] of steps.entries()) {
          await applyStep([index], world, each, BigInt(at + 2));
          // The index reads words during the searches.
          if (at === 1) void index.local.warm();
          for (const request of each.requests) {
            expect(await ask(index, request)).toEqual(askNaively(world, request));
          }
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

async function ask(index: ReadIndex, search: ArticleSearch) {
  const { total, hits, facets } = await index.search(searchRequest(search));
  return { total, ids: hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id), facets };
}

function askNaively(content: ArticleWorld, request: ArticleSearch) {
  const { articles, tags } = content;
  const { stars, from, size, world, fields } = request;
  const tagsOf = (id: number) =>
    [...(tags.get(`${world} ${id}`) ?? [])].map((tag) => nameOfTag(content, tag));
  const inWorld = [...articles.values()].filter(({ version }) => version === world);
  const rows = inWorld.map(
    ({ key, locale, texts }): NaiveRow => ({ id: key, locale, texts: [...texts, tagsOf(key)] }),
  );
  const starsOf = (id: number) => articles.get(`${world} ${id}`)?.stars ?? null;
  const search = { ...request, fields: fields && new Set(fields) } as Parameters<typeof searchNaively>[2];
  const within = ({ id, locale }: NaiveRow) => {
    const isWanted = request.locales === 'all' || request.locales.includes(locale);
    return isWanted && (stars === undefined || starsOf(id) === stars);
  };
  const found = searchNaively(rows, ARTICLE_FIELDS, search, within);
  const { isByStars, placed = NO_RULES } = request;
  const isPinned = ({ id }: NaiveRow) => placed.pinned.includes(`d${id}`);
  if (/[\p{L}\p{N}]/u.test(request.query))
    for (const row of rows)
      if (isPinned(row) && within(row) && !found.some(({ id }) => id === row.id))
        found.push({ id: row.id, rank: [] });
  sortNaively(found, placed, {
    starsOf,
    ties: (id) => [isByStars ? -(starsOf(id) ?? -1) : 0, id],
    isBoosted: (id, { kind }) => (kind === 'term' ? starsOf(id) === 2 : tagsOf(id).includes('Same')),
  });
  const ids = found.map(({ id }) => id);
  const named = ids.map((id) => new Set(tagsOf(id)));
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

type Found = { readonly id: number; readonly rank: readonly number[] };

const TIERS: readonly RankPlace[] = ['typos', 'distance', 'weight', 'exact'];
const NO_RULES: PlacedRules = { pinned: [], boosts: [], keys: [], keysBefore: 'end' };

type Rows = {
  readonly starsOf: (id: number) => number | null;
  readonly isBoosted: (id: number, boost: BoolQuery) => boolean;
  readonly ties: (id: number) => readonly number[];
};

/** Sorts rows by the owner's rules between the tiers of their ranks. A question has one tier, and only its boosts before it count. */
function sortNaively(found: Found[], { pinned, boosts, keys, keysBefore }: PlacedRules, rows: Rows): void {
  const isQuestion = found.some(({ rank }) => rank.length === 1);
  const keysAt = isQuestion && keysBefore !== 'typos' ? 'end' : keysBefore;
  const places: readonly RankPlace[] = isQuestion ? ['typos', 'end'] : [...TIERS, 'end'];
  const valuesOf = ({ id, rank }: Found) => [
    pinned.includes(`d${id}`) ? pinned.indexOf(`d${id}`) : pinned.length,
    ...places.flatMap((place, at) => [
      ...boosts
        .filter(({ before }) => before === place && !(isQuestion && place === 'end'))
        .map(({ query }) => (rows.isBoosted(id, query) ? 0 : 1)),
      ...(keysAt === place && keys.length > 0 ? [-(rows.starsOf(id) ?? -1)] : []),
      // A pinned row needs no words.
      ...(place === 'end' || pinned.includes(`d${id}`) ? [0] : [rank[at] ?? 0]),
    ]),
    ...rows.ties(id),
  ];
  const values = new Map(found.map((row) => [row, valuesOf(row)]));
  const isFar = (difference: number) => Math.abs(difference) > 1e-9;
  found.sort((a, b) => {
    const [left = [], right = []] = [values.get(a), values.get(b)];
    return left.map((value, at) => value - (right[at] ?? 0)).find(isFar) ?? 0;
  });
}

function counted(values: readonly string[]) {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
