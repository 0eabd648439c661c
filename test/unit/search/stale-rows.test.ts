import { expect, it, vi } from 'vitest';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import {
  articleChange,
  articleRegistry,
  countFound,
  tagChange,
  tagChanges,
  tagLink,
} from '../../support/searched-articles.ts';

type Index = ReturnType<typeof createEmbeddedIndex>;

/** Creates articles that show one tag. */
async function taggedArticles(count: number): Promise<Index> {
  const index = createEmbeddedIndex({ registry: articleRegistry() });
  const keys = Array.from({ length: count }, (_, at) => at + 1);
  const rows = keys.map((key) =>
    articleChange({ key, version: 'published', locale: 'en', stars: null, texts: [`title ${key}`, '', ''] }),
  );
  const links = keys.map((key) => tagLink({ key, tag: 1, isTagged: true, world: 'published' }));
  await index.apply({ position: 1n, rows: [...tagChanges(), ...rows], links });
  return index;
}

const rename = (index: Index, name: string, position: bigint) =>
  index.apply({ position, rows: [tagChange(1, name)], links: [] });

it('counts the rows that show a changed row until a search has read them again', async () => {
  const index = await taggedArticles(10);
  await rename(index, 'early', 2n);
  // No row has been read yet, so none is stale.
  expect(index.local.staleRows()).toBe(0);
  expect(await countFound(index, 'early ')).toBe(10);
  await rename(index, 'quixotic', 3n);
  expect(index.local.staleRows()).toBe(10);
  expect([await countFound(index, 'quixotic '), await countFound(index, 'early ')]).toEqual([10, 0]);
  expect(index.local.staleRows()).toBe(0);
  await index.close();
});

it('reads many rows again without a search, and a search does not miss those that are left', async () => {
  const index = await taggedArticles(5_000);
  expect(await countFound(index, 'tag ')).toBe(5_000);
  await rename(index, 'quixotic', 2n);
  expect(index.local.staleRows()).toBeGreaterThan(1_000);
  expect(await countFound(index, 'quixotic ')).toBe(5_000);
  await rename(index, 'vermilion', 3n);
  expect(index.local.staleRows()).toBeGreaterThan(1_000);
  await vi.waitFor(() => expect(index.local.staleRows()).toBe(0), { timeout: 60_000 });
  expect([await countFound(index, 'vermilion '), await countFound(index, 'quixotic ')]).toEqual([5_000, 0]);
  await index.close();
});
