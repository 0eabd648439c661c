import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type MakeAgainOptions, makeAgain } from '../../services/elasticsearch/make-again.ts';
import { OTHERS_READ_FOR_MS } from '../../services/read-side/outside-generation.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

const TYPES = ['api::tag.tag' as Uid];
const SET: IndexSet = { 'v-tag-draft': 'v-tag-draft-2' };

/** Makes the index of a type again, which takes no time. Resolves to the steps, each with its time in milliseconds. */
async function stepsOf(replaces: boolean) {
  const began = performance.now();
  const steps: { readonly step: string; readonly at: number }[] = [];
  const note = (step: string) => steps.push({ step, at: performance.now() - began });
  const options = {
    cluster: {
      openIndices: async () => ({
        set: SET,
        toBuild: TYPES,
        replaces,
        promote: async () => note('promoted') > 0,
        removeReplaced: async () => {},
      }),
      createWriter: () => ({ refresh: async () => void note('refreshed') }),
    },
    stale: { markLost: () => void note('marked'), areLost: () => false },
    log: 'log',
    report: { info() {}, warn() {}, error() {} },
    ...{ epoch: 1, index: { retarget() {} }, writer: { wake() {}, status: () => ({ backlog: 0 }) } },
  } as unknown as MakeAgainOptions;
  const ending = new AbortController();
  await makeAgain(TYPES, options, {
    signal: ending.signal,
    filling: () => void note('filling'),
    adopt: async () => void note('adopted'),
  });
  ending.abort();
  return steps;
}

it('uses an index in place of another only when no process reads the other any more', async () => {
  const steps = await stepsOf(true);
  expect(steps.map(({ step }) => step)).toEqual(['filling', 'marked', 'refreshed', 'promoted', 'adopted']);
  const early = steps.filter(({ at }) => at < OTHERS_READ_FOR_MS).map(({ step }) => step);
  expect(early).toEqual(['filling', 'marked']);
});

it('uses an index in place of a deleted one at once', async () => {
  const used = stepsOf(false);
  const last = await Promise.race([used.then((steps) => steps.at(-1)?.step), delay(30_000, 'late')]);
  expect(last).toBe('adopted');
});
