import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ChangeBatch, ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import { libraryRegistry } from '../contract/read-index-library.ts';
import { historyOf } from '../support/brute-force-history.ts';
import { searchRequests, type TraversalPlan, traversalPlans } from '../support/brute-force-questions.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { searchAnswer, traversalAnswer } from '../support/read-answers.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 200);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = libraryRegistry();

type Requests = {
  readonly searches: readonly SearchRequest[];
  readonly traversals: readonly TraversalPlan[];
};

async function expectSameAnswers(index: ReadIndex, naive: ReadIndex, requests: Requests): Promise<void> {
  for (const request of requests.searches) {
    expect(await searchAnswer(index, request)).toEqual(await searchAnswer(naive, request));
  }
  for (const plan of requests.traversals) {
    expect(await traversalAnswer(index, plan)).toEqual(await traversalAnswer(naive, plan));
  }
}

describe(`embedded index against brute force (seed ${SEED}, ${RUNS} runs)`, () => {
  it('gives the same answers to searches and traversals after every batch of a history', async () => {
    const history = historyOf(registry);
    const searches = fc.array(searchRequests(registry), { minLength: 2, maxLength: 6 });
    const traversals = fc.array(traversalPlans(registry), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(history, searches, traversals, async (batches, searched, traversed) => {
      const index = createEmbeddedIndex({ registry, reuseOrdinalsAfter: 0, keepSetsFrom: 0 });
      const naive = createBruteForceReadIndex(registry);
      for (const batch of batches) {
        await index.apply(batch);
        await naive.apply(batch);
        await expectSameAnswers(index, naive, { searches: searched, traversals: traversed });
      }
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  });

  it('gives the same answers when every batch is applied twice and older ones are repeated', async () => {
    const property = fc.asyncProperty(
      historyOf(registry),
      searchRequests(registry),
      async (batches, request) => {
        const index = createEmbeddedIndex({ registry, reuseOrdinalsAfter: 0 });
        const naive = createBruteForceReadIndex(registry);
        for (const [i, batch] of batches.entries()) {
          for (const again of [batch, batches[i - 1] ?? batch, batch] satisfies ChangeBatch[]) {
            await index.apply(again);
          }
          await naive.apply(batch);
        }
        expect(await searchAnswer(index, request)).toEqual(await searchAnswer(naive, request));
      },
    );
    await fc.assert(property, { seed: SEED, numRuns: Math.ceil(RUNS / 4) });
  });
});
