import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { gatherRows } from '../../../services/query/gather-rows.ts';
import type { PopulateNode, Selection } from '../../../services/query/selection.ts';
import { BOOK, TAG } from '../../contract/read-index-library.ts';
import { taggedBooks } from '../../support/tagged-books.ts';

/** More rows than are selected at once, each of so many bytes that all of them take several slices. */
const ROWS = 500;
const SOURCE = Buffer.from(JSON.stringify({ id: 1, documentId: 'd', title: 'x'.repeat(100_000), pages: 1 }));

const TAGS: PopulateNode = {
  ...{ kind: 'relation', attribute: 'tags', target: TAG, toMany: true, countOnly: false },
  ...{ query: { kind: 'match_all' }, sort: [] },
  selection: { fields: null, populate: [] },
};

function unhandledRejections(): readonly unknown[] {
  const found: unknown[] = [];
  const note = (reason: unknown) => found.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return found;
}

it('an attribute that fails while the fields of its level are selected fails only the answer', async () => {
  const unhandled = unhandledRejections();
  const index = await taggedBooks();
  const hits = { rows: Array.from({ length: ROWS }, (_, i) => i), sources: new Array(ROWS).fill(SOURCE) };
  const selection: Selection = { fields: new Set(['pages']), populate: [TAGS] };
  const budget = { total: 100, left: 100 };
  const answer = gatherRows({ index, world: 'published', budget }, { type: BOOK, path: [] }, hits, selection);
  await expect(answer).rejects.toEqual(expect.objectContaining({ code: 'query-too-large' }));
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(unhandled).toEqual([]);
});
