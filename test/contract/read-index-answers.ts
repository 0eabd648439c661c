import { expect, it } from 'vitest';
import type { SearchRequest } from '../../shared/read-index/read-index.ts';
import { BOOK, decode } from './read-index-library.ts';
import { by, MATCH_ALL, type OpenIndex, openShelf } from './read-index-shelf.ts';

const BOOKS: SearchRequest = {
  type: BOOK,
  world: 'published',
  query: MATCH_ALL,
  sort: [by('pages')],
  from: 0,
  size: 10,
  withTotal: true,
};

/** Answers of several requests, and explanations. */
export function describeAnswers(open: OpenIndex): void {
  it('makes an answer of several requests with one scope', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([1, 2].map((id) => shelf.put(BOOK, 'published', id, { id, pages: 9 - id })));
    const answer = await shelf.index.answer(async (scope) => {
      const { hits } = await shelf.index.search({ ...BOOKS, answer: scope });
      const [found] = await shelf.index.searchMany([{ ...BOOKS, answer: scope }]);
      return [hits, found?.hits].map((each) => each?.sources.map((source) => decode(source).id));
    });
    expect(answer).toEqual([
      [2, 1],
      [2, 1],
    ]);
  });

  it('rejects with the error of the work', async () => {
    const shelf = await openShelf(open);
    const failed = shelf.index.answer(() => Promise.reject(new Error('no answer')));
    await expect(failed).rejects.toThrow('no answer');
  });

  it('explains a search', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 1, pages: 7 })]);
    expect(await shelf.index.explain(BOOKS)).toBeInstanceOf(Object);
  });
}
