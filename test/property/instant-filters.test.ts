import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerQueries } from '../../services/instant-search/answer-queries.ts';
import { planInstant } from '../../services/instant-search/plan-query.ts';
import { readOneQuery } from '../../services/instant-search/read-request.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import {
  type Article,
  article,
  articleChange,
  articleRegistry,
  tagChanges,
  tagLink,
  tagName,
} from '../support/searched-articles.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 300);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = articleRegistry();
const scope = { registry, defaultLocale: 'en', caller: {}, rules: {} };

/** A published article of the default locale, with its tags. */
type Row = Article & { readonly tags: readonly number[] };

const rows: fc.Arbitrary<readonly Row[]> = fc.uniqueArray(
  fc
    .record({ article, tags: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }) })
    .map(({ article: each, tags }): Row => ({ ...each, version: 'published', locale: 'en', tags })),
  { selector: ({ key }) => key, minLength: 1, maxLength: 10 },
);

/** A filter as text, and as a function of a row. */
type Filter = { readonly text: string; readonly holds: (row: Row) => boolean };

const COMPARE: { readonly [operator: string]: (a: number, b: number) => boolean } = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '=': (a, b) => a === b,
};
const numbers = fc.constantFrom(-3_000_000_000, -1, 0, 1, 1.5, 2, 2.5, 3, 4, 3e9, 1e300);
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

const comparison: fc.Arbitrary<Filter> = fc
  .tuple(fc.constantFrom(...Object.keys(COMPARE)), numbers)
  .map(([operator, value]) => ({
    text: `stars ${operator} ${value}`,
    holds: ({ stars }) => stars !== null && (COMPARE[operator] as (typeof COMPARE)[string])(stars, value),
  }));
const conditions: fc.Arbitrary<Filter> = fc.oneof(
  comparison,
  numbers.map((value): Filter => ({ text: `stars != ${value}`, holds: ({ stars }) => stars !== value })),
  fc.tuple(numbers, numbers).map(
    ([from, to]): Filter => ({
      text: `stars:${from} TO ${to}`,
      holds: ({ stars }) => stars !== null && stars >= from && stars <= to,
    }),
  ),
  fc.integer({ min: 0, max: 4 }).map(
    (value): Filter => ({
      text: `stars:${value}`,
      holds: ({ stars }) => stars === value,
    }),
  ),
  fc.constantFrom(1, 2, 3, 9).map(
    (tag): Filter => ({
      text: `tags.name:${quoted(tagName(tag))}`,
      holds: ({ tags }) => tags.some((each) => tagName(each) === tagName(tag)),
    }),
  ),
  article.map(
    ({ texts: [title = ''] }): Filter => ({
      text: `title:${quoted(title)}`,
      holds: ({ texts }) => texts[0] === title,
    }),
  ),
  fc.integer({ min: 1, max: 24 }).map(
    (key): Filter => ({
      text: `objectID:d${key}`,
      holds: (row) => row.key === key,
    }),
  ),
);

const { filter } = fc.letrec<{ filter: Filter; group: Filter }>((tie) => ({
  filter: fc.oneof({ maxDepth: 4, depthSize: 'medium' }, conditions, tie('group')),
  group: fc.oneof(
    tie('filter').map(
      (inner): Filter => ({ text: `NOT (${inner.text})`, holds: (row) => !inner.holds(row) }),
    ),
    fc.tuple(fc.constantFrom('AND', 'OR'), fc.array(tie('filter'), { minLength: 2, maxLength: 3 })).map(
      ([join, inner]): Filter => ({
        text: inner.map(({ text }) => `(${text})`).join(` ${join} `),
        holds: (row) =>
          join === 'AND' ? inner.every((each) => each.holds(row)) : inner.some((each) => each.holds(row)),
      }),
    ),
  ),
}));

async function indexOf(all: readonly Row[]) {
  const index = createEmbeddedIndex({ registry });
  const links = all.flatMap(({ key, tags }) =>
    tags.map((tag) => tagLink({ key, tag, isTagged: true, world: 'published' })),
  );
  const articles = all.map((row) => articleChange(row));
  await index.apply({ position: 1n, rows: [...tagChanges(), ...articles], links });
  return index;
}

const terms = { id: 'test', now: () => 0, ignored() {} };

test('filters match exactly the rows that they describe', async () => {
  let partial = 0;
  await fc.assert(
    fc.asyncProperty(rows, fc.array(filter, { minLength: 1, maxLength: 6 }), async (all, filters) => {
      const index = await indexOf(all);
      for (const { text, holds } of filters) {
        const query = readOneQuery('articles', {
          filters: text,
          hitsPerPage: 100,
          attributesToRetrieve: ['id'],
        });
        const [answer] = await answerQueries(index, [planInstant(query, scope)], terms);
        const { hits } = answer as { readonly hits: readonly { readonly id: number }[] };
        const wanted = all.filter(holds).map(({ key }) => key);
        expect(
          hits.map(({ id }) => id).sort((a, b) => a - b),
          text,
        ).toEqual(wanted.sort((a, b) => a - b));
        if (wanted.length > 0 && wanted.length < all.length) partial++;
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
  // Filters that match all rows or none prove little.
  expect(partial).toBeGreaterThan(RUNS / 4);
}, 600_000);

test('any text is a filter or a 400', () => {
  const pieces = fc.constantFrom(
    ...[
      'a',
      'stars',
      ':',
      '"',
      "'",
      '\\',
      '(',
      ')',
      ' ',
      'AND',
      'OR',
      'NOT',
      'TO',
      '<',
      '>=',
      '=',
      '!',
      '1',
      '-',
      '<score=1>',
      '𝒳',
      '\0',
    ],
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 30 }).map((all) => all.join('')),
      ),
      (text) => {
        for (const parameters of [
          { filters: text },
          { facetFilters: [text] },
          { numericFilters: [[text]] },
        ]) {
          try {
            planInstant(readOneQuery('articles', parameters), scope);
          } catch (error) {
            if (!(error instanceof RequestError)) throw error;
          }
        }
      },
    ),
    { numRuns: RUNS * 5, seed: SEED },
  );
});
