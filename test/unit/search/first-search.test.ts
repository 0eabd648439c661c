import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { createTurns } from '../../../shared/turns/turns.ts';
import { ARTICLE, articleChange, articleRegistry } from '../../support/searched-articles.ts';

const ARTICLES = 3_000;

/** Creates an index whose clock advances a millisecond at each look. An answer may take some hundreds. */
function createIndex() {
  let time = 0;
  const turns = createTurns({ now: () => time++, defer: setImmediate, sliceMs: 50, graceMs: 50, steps: 1 });
  return createEmbeddedIndex({ registry: articleRegistry(), turns, queryTimeLimit: 600 });
}

const articles = (word: string) =>
  Array.from({ length: ARTICLES }, (_, at) =>
    articleChange({
      ...{ key: at + 1, version: 'published', locale: 'en', stars: null },
      texts: [`${word} ${at}`, 'boundary layer', ''],
    }),
  );

const search = (index: ReturnType<typeof createIndex>, query: string) =>
  index.search({
    ...{ type: ARTICLE, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0, size: 5 },
    withTotal: true,
    text: { query, locales: ['en'], typoTolerance: true, isRanked: true },
  });

it('does not count the reading of words for the time limit', async () => {
  const index = createIndex();
  await index.apply({ position: 1n, rows: articles('first'), links: [] });
  const [one, other] = await Promise.all([search(index, '17 '), search(index, '18 ')]);
  expect([one.total, other.total]).toEqual([1, 1]);
  // This batch changes every row.
  await index.apply({ position: 2n, rows: articles('second'), links: [] });
  expect((await search(index, '17 ')).total).toBe(1);
  expect((await search(index, 'first 17 ')).total).toBe(0);
});

it('refuses a search whose own work takes longer', async () => {
  const index = createIndex();
  await index.apply({ position: 1n, rows: articles('first'), links: [] });
  await expect(search(index, 'boundary layer ')).rejects.toMatchObject({ code: 'query-too-expensive' });
});
