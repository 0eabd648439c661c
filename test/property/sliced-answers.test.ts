import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { EmbeddedIndexOptions } from '../../shared/read-index/embedded/embedded-index.ts';
import type {
  AnswerScope,
  ChangeBatch,
  ReadIndex,
  SearchRequest,
} from '../../shared/read-index/read-index.ts';
import { createTurns } from '../../shared/turns/turns.ts';
import { BOOK, TAG } from '../contract/read-index-library.ts';
import { BOOKS, book, QUERIES, request, taggedBooks, tagging } from '../support/tagged-books.ts';

/** A search, and the query of the rows that are populated. */
type Asked = { readonly search: SearchRequest; readonly populated: BoolQuery; readonly descending: boolean };

async function answer(index: ReadIndex, asked: Asked, scope: AnswerScope) {
  const { total, hits } = await index.search({ ...asked.search, answer: scope, traversed: true });
  const traverse = { world: 'published', limit: 10_000, answer: scope } as const;
  const tags = await index.traverse({
    ...{ ...traverse, rowSet: { type: BOOK, path: [] }, attribute: 'tags', parents: hits.rows },
    sort: [{ path: [], field: 'name', direction: asked.descending ? 'desc' : 'asc' }],
  });
  const parents = [...new Set(tags.children.flatMap(({ rows }) => rows))];
  const books = await index.traverse({
    ...{ ...traverse, rowSet: { type: TAG, path: [] }, attribute: 'books', parents },
    query: asked.populated,
  });
  const sources = [hits, ...tags.children, ...books.children].flatMap((each) => each.sources.map(String));
  return { position: index.position(), answer: { total, sources, counts: [tags.counts, books.counts] } };
}

/** Creates turns with slices of so many looks at the clock. There is a look after each step. */
function steppingTurns(looks: number) {
  let time = 0;
  let slices = 0;
  const turns = createTurns({
    now: () => time++,
    defer: (turn) => {
      slices++;
      setImmediate(turn);
    },
    ...{ sliceMs: looks, graceMs: looks, steps: 1 },
  });
  return { turns, slices: () => slices };
}

const AT_A_STRETCH: Omit<EmbeddedIndexOptions, 'registry'> = {
  turns: createTurns({ sliceMs: Number.POSITIVE_INFINITY }),
  keepSetsFrom: Number.POSITIVE_INFINITY,
};

const changes = fc.record({
  written: fc.array(fc.tuple(fc.integer({ min: 1, max: BOOKS + 5 }), fc.nat(700), fc.boolean()), {
    maxLength: 6,
  }),
  tagged: fc.array(fc.tuple(fc.integer({ min: 1, max: BOOKS }), fc.nat(40)), { maxLength: 3 }),
  /** Number of turns of the event loop before this action. */
  after: fc.nat(6),
});
const asked = fc.record({
  search: request,
  populated: fc.constantFrom(...QUERIES),
  descending: fc.boolean(),
});

function batchOf(
  position: bigint,
  { written, tagged }: Pick<typeof changes extends fc.Arbitrary<infer C> ? C : never, 'written' | 'tagged'>,
): ChangeBatch {
  const rows = written.map(([key, pages, isThere]) =>
    isThere ? book(key, pages) : { type: BOOK, version: 'published' as const, key, row: null },
  );
  return { position, rows, links: tagged.map(([key, n]) => tagging(key, n)) };
}

it('each answer in slices shows one state, while rows change', async () => {
  let restarted = 0;
  let sliced = 0;
  const history = fc.record({
    batches: fc.array(changes, { minLength: 1, maxLength: 6 }),
    questions: fc.array(asked, { minLength: 1, maxLength: 5 }),
    looks: fc.integer({ min: 6, max: 80 }),
    patienceMs: fc.constantFrom(0, 1, 20),
    keepSetsFrom: fc.constantFrom(0, 1, 3_000),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ batches, questions, looks, ...options }) => {
      const { turns, slices } = steppingTurns(looks);
      const index = await taggedBooks({ turns, ...options });
      const reference = await taggedBooks(AT_A_STRETCH);
      let tries = 0;
      const answers = questions.map((question) =>
        index.answer((scope) => {
          tries++;
          return answer(index, question, scope);
        }),
      );
      const expected = new Map<bigint, readonly unknown[]>();
      const note = async () => {
        const all = questions.map(async (question) => (await answer(reference, question, {})).answer);
        expected.set(reference.position(), await Promise.all(all));
      };
      await note();
      const applied: Promise<void>[] = [];
      for (const [i, change] of batches.entries()) {
        for (let turn = 0; turn < change.after; turn++) await nextTurn();
        const batch = batchOf(BigInt(i + 2), change);
        applied.push(index.apply(batch));
        await reference.apply(batch);
        await note();
      }
      for (const [i, result] of (await Promise.all(answers)).entries()) {
        expect(result?.answer).toEqual(expected.get(result?.position ?? 0n)?.[i]);
      }
      await Promise.all(applied);
      expect(index.position()).toBe(reference.position());
      restarted += tries - questions.length;
      sliced += slices();
    }),
    { numRuns: Math.ceil(Number(process.env['VARVE_PROPERTY_RUNS'] ?? 100) / 8) },
  );
  expect(restarted).toBeGreaterThan(0);
  expect(sliced).toBeGreaterThan(100);
});
