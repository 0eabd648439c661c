import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SearchRequest } from '../../shared/read-index/read-index.ts';
import { QueryTooExpensive } from '../../shared/turns/query-too-expensive.ts';
import { BOOK } from '../contract/read-index-library.ts';
import { MATCH_ALL } from '../contract/read-index-shelf.ts';
import { BOOKS, book, QUERIES, request, taggedBooks, tagging } from '../support/tagged-books.ts';

const library = (queryTimeLimit?: number) =>
  taggedBooks(queryTimeLimit === undefined ? {} : { queryTimeLimit });

const page = { type: BOOK, world: 'published', query: QUERIES[5] ?? MATCH_ALL, sort: [], from: 0 } as const;
const tags = { rowSet: { type: BOOK, path: [] }, world: 'published', attribute: 'tags' } as const;
/** A limit that is over at the first look at the clock, on any machine. */
const INSTANT = 1e-6;

it('refuses a query that takes longer than the limit, and says what is accepted', async () => {
  const index = await library(INSTANT);
  const refused = expect.objectContaining({
    code: 'query-too-expensive',
    message: 'Invalid query: it takes more than 0.000001 ms to answer',
    details: expect.objectContaining({ accepted: expect.stringContaining('at most 0.000001 ms') }),
  });
  const answer = {};
  await expect(index.search({ ...page, size: 1, withTotal: true, answer })).rejects.toEqual(refused);
});

it('counts all searches and traversals of one answer together, and those of another answer separately', async () => {
  const index = await library(INSTANT);
  const tooExpensive = expect.any(QueryTooExpensive);
  // The links of one row are traversed before the clock is read.
  const traverse = { ...tags, parents: [0], limit: 10 };
  await index.answer(async (answer) => {
    await index.traverse({ ...traverse, answer });
    await expect(index.traverse({ ...traverse, answer })).rejects.toEqual(tooExpensive);
    await expect(index.search({ ...page, size: 1, withTotal: true, answer })).rejects.toEqual(tooExpensive);
  });
  const counts = await index.answer(async (answer) => (await index.traverse({ ...traverse, answer })).counts);
  expect(counts).toEqual([10]);
});

it('gives the same answers after queries were stopped at any point', async () => {
  const step = fc.record({
    request,
    written: fc.array(fc.tuple(fc.integer({ min: 1, max: BOOKS }), fc.nat(700)), { maxLength: 8 }),
    tagged: fc.array(fc.tuple(fc.integer({ min: 1, max: BOOKS }), fc.nat(40)), { maxLength: 4 }),
  });
  let stopped = 0;
  for (const limit of [INSTANT, 0.05, 0.3, 1]) {
    const [limited, unlimited] = [await library(limit), await library()];
    const ask = async (search: SearchRequest): Promise<boolean> => {
      try {
        expect(await limited.search(search)).toEqual(await unlimited.search(search));
        return true;
      } catch (error) {
        if (!(error instanceof QueryTooExpensive)) throw error;
        stopped++;
        return false;
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        for (const { request: search, written, tagged } of steps) {
          const rows = written.map(([key, pages]) => book(key, pages));
          const batch = { position: 1n, rows, links: tagged.map(([key, n]) => tagging(key, n)) };
          await limited.apply(batch);
          await unlimited.apply(batch);
          // A stopped query keeps part of its work, so a later try may finish. If not, it is stopped again.
          for (let tries = 0; tries < 3 && !(await ask(search)); tries++);
        }
      }),
      { numRuns: Number(process.env['VARVE_PROPERTY_RUNS'] ?? 100) / 4 },
    );
  }
  expect(stopped).toBeGreaterThan(10);
});
