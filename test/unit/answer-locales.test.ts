import { expect, it } from 'vitest';
import { createLocalesAnswer } from '../../services/http/api/answer-locales.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';

/** Creates an index without rows. It counts searches, and fails them while `fails` is true. */
function createCountingIndex() {
  const state = { searches: 0, position: 1n, fails: false };
  const index: Pick<ReadIndex, 'search' | 'position'> = {
    position: () => state.position,
    async search() {
      state.searches++;
      if (state.fails) throw new Error('away');
      return { hits: { rows: [], sources: [] } } as unknown as Awaited<ReturnType<ReadIndex['search']>>;
    },
  };
  return { state, index: index as ReadIndex };
}

function createAnswer(index: ReadIndex) {
  const loaded = loadContentTypes(CONFORMANCE_SCHEMA);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return createLocalesAnswer({ index, registry: loaded.registry, defaultLocale: 'en', caller: {} });
}

it('searches once for requests at one position, and again after a write', async () => {
  const { state, index } = createCountingIndex();
  const answer = createAnswer(index);
  const [first, second] = await Promise.all([answer(), answer()]);
  const searches = state.searches;
  expect(searches).toBeGreaterThan(0);
  expect([second, await answer(), state.searches]).toEqual([first, first, searches]);
  state.position = 2n;
  await answer();
  expect(state.searches).toBe(2 * searches);
});

it('does not keep a failure', async () => {
  const { state, index } = createCountingIndex();
  const answer = createAnswer(index);
  state.fails = true;
  await expect(answer()).rejects.toThrow('away');
  state.fails = false;
  expect(Buffer.from(await answer()).toString()).toContain('English');
});
