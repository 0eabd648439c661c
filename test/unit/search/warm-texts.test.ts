import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { succeedWorker } from '../../../services/cli/serve/succeed-worker.ts';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import {
  articleChange,
  articleRegistry,
  countFound,
  tagChanges,
  tagLink,
} from '../../support/searched-articles.ts';

type Index = ReturnType<typeof createEmbeddedIndex>;

const ARTICLES = 5_000;
const EDITED = 10;
/** So few that they are not read again at once. */
const LAST = 500;

const article = (key: number, title: string) =>
  articleChange({ key, version: 'published', locale: 'en', stars: null, texts: [title, 'layer', ''] });

/** Creates articles whose words have not been read. All show one tag. */
async function unreadArticles(): Promise<Index> {
  const index = createEmbeddedIndex({ registry: articleRegistry() });
  const keys = Array.from({ length: ARTICLES }, (_, at) => at + 1);
  const links = keys.map((key) => tagLink({ key, tag: 1, isTagged: true, world: 'published' }));
  const rows = keys.map((key) => article(key, `title ${key}`));
  await index.apply({ position: 1n, rows: [...tagChanges(), ...rows], links });
  return index;
}

/** Changes the last articles, and returns how many of them must be read again: those whose words had been read before. */
async function lastRead(index: Index): Promise<number> {
  const keys = Array.from({ length: LAST }, (_, at) => ARTICLES - at);
  const links = keys.map((key) => tagLink({ key, tag: 2, isTagged: true, world: 'published' }));
  await index.apply({ position: 1_000_000n, rows: [], links });
  return index.local.staleRows();
}

it('reads the words of all rows without a search', async () => {
  const index = await unreadArticles();
  await index.local.warm();
  expect(await lastRead(index)).toBe(LAST);
  expect(await countFound(index, 'layer ')).toBe(ARTICLES);
  await index.close();
});

it('answers searches that come before the words are read, also for rows that change in the meantime', async () => {
  const index = await unreadArticles();
  const warmed = index.local.warm();
  const early = [countFound(index, 'layer '), countFound(index, '7 ')];
  await index.apply({ position: 2n, rows: [article(7, 'another layer')], links: [] });
  expect(await Promise.all(early)).toEqual([ARTICLES, expect.toBeOneOf([0, 1])]);
  expect([await countFound(index, '7 '), await countFound(index, 'another ')]).toEqual([0, 1]);
  await warmed;
  expect([await countFound(index, '7 '), await countFound(index, 'another ')]).toEqual([0, 1]);
  await index.close();
});

it('ends although a few rows change all the time', async () => {
  const index = await unreadArticles();
  // No article has such a number.
  const editOf = (at: bigint) => at + 1_000_000n;
  let isOver = false;
  const warmed = index.local.warm().then(() => {
    isOver = true;
  });
  let position = 2n;
  for (; !isOver && position < 1_000_000n; position++) {
    await index.apply({
      position,
      rows: [article(Number(position) % EDITED, `edit ${editOf(position)}`)],
      links: [],
    });
    await nextTurn();
  }
  expect(isOver).toBe(true);
  await warmed;
  expect([await countFound(index, 'layer '), await countFound(index, `${editOf(position - 1n)} `)]).toEqual([
    ARTICLES + 1,
    1,
  ]);
  await index.close();
});

it.each([
  ['only with all words', false, LAST],
  // Writes wait already.
  ['before it has read the words, if it changes content types', true, 0],
])('makes a worker ready to replace another one %s', async (_when, changesTypes, read) => {
  const index = await unreadArticles();
  const order: (string | number)[] = [];
  const supervisor = { enter: async () => void order.push('entered') };
  const operator = { readSide: async () => ({ index }), generations: { enter: () => order.push('live') } };
  const fleet = { leader: () => ({ kind: 'here' }) };
  type Arguments = Parameters<typeof succeedWorker>;
  await succeedWorker(
    supervisor as unknown as Arguments[0],
    { generation: 2, changesTypes, enterMs: 60_000, recent: [] },
    () => {},
    {
      varve: { operator, fleet, search: {} } as unknown as Arguments[3]['varve'],
      metrics: undefined,
      address: undefined,
      isStopping: () => false,
      async takeTurn() {
        order.push('ready', await lastRead(index));
      },
    },
  );
  expect(order).toEqual(['ready', read, 'live', 'entered']);
  await index.close();
});
