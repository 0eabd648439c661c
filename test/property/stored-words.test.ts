import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { createTurns } from '../../shared/turns/turns.ts';
import {
  type ArticleSearch,
  applyStep,
  createArticleWorld,
  type SearchStep,
  searchRequest,
  searchSteps,
} from '../support/article-searches.ts';
import { articleRegistry, tagChanges } from '../support/searched-articles.ts';
import { count } from '../support/takes-minutes.ts';
import { createWordMemory } from '../support/word-memory.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? count(60, 25));
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
const registry = articleRegistry();

type Options = Omit<Parameters<typeof createEmbeddedIndex>[0], 'registry' | 'turns'>;

async function createAt(steps: readonly SearchStep[], options: Options) {
  const turns = createTurns({ sliceMs: Number.POSITIVE_INFINITY });
  const index = createEmbeddedIndex({ registry, turns, ...options });
  const world = createArticleWorld();
  await index.apply({ position: 1n, rows: tagChanges(), links: [] });
  for (const [at, each] of steps.entries()) await applyStep([index], world, each, BigInt(at + 2));
  return { index, world };
}

/** The stored words may be of an earlier or later state, if they come from a copy or from a killed process. */
it('answers correctly with words that were stored in any earlier state of the rows', async () => {
  const steps = fc.array(searchSteps(4), { minLength: 2, maxLength: 5 });
  const places = fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 }));
  await fc.assert(
    fc.asyncProperty(steps, places, async (all, [storedAt, openedAt]) => {
      const wordFiles = createWordMemory({ fewRows: 1 });
      const stored = await createAt(all.slice(0, storedAt), { wordFiles, reuseOrdinalsAfter: 2 });
      const requests = all.flatMap((each) => each.requests);
      for (const request of requests) await ask(stored.index, request);
      await stored.index.close();
      const opened = await createAt(all.slice(0, openedAt), { wordFiles });
      const again = await createAt(all.slice(0, openedAt), {});
      const warm = opened.index.local.warm();
      for (const [at, each] of [...all.slice(openedAt).entries()]) {
        const position = BigInt(openedAt + at + 2);
        await applyStep([opened.index], opened.world, each, position);
        await applyStep([again.index], again.world, each, position);
        for (const request of requests)
          expect(await ask(opened.index, request)).toEqual(await ask(again.index, request));
      }
      const last = await Promise.all(requests.map((request) => ask(again.index, request)));
      expect(await Promise.all(requests.map((request) => ask(opened.index, request)))).toEqual(last);
      await warm;
      // These words were stored by a process that had itself loaded stored words.
      await opened.index.close();
      const third = await createAt(all, { wordFiles });
      for (const [at, request] of requests.entries())
        expect(await ask(third.index, request)).toEqual(last[at]);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

async function ask(index: ReadIndex, search: ArticleSearch) {
  const { total, hits, facets, text } = await index.search(searchRequest(search));
  return { total, sources: hits.sources.map((source) => Buffer.from(source).toString()), facets, text };
}
