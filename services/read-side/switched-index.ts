import type { AnswerScope, ReadIndex } from '../../shared/read-index/read-index.ts';

/**
 * The index that is current, as one: an answer stays with the index that its first rows came from, as rows of one mean nothing
 * to another.
 */
export function createSwitchedIndex(current: () => ReadIndex): ReadIndex {
  const answered = new WeakMap<AnswerScope, ReadIndex>();
  const indexOf = (answer: AnswerScope | undefined, isFollowed: boolean | undefined): ReadIndex => {
    if (answer === undefined) return current();
    const known = answered.get(answer);
    if (known !== undefined) return known;
    const index = current();
    if (isFollowed === true) answered.set(answer, index);
    return index;
  };
  return {
    apply: (batch) => current().apply(batch),
    position: () => current().position(),
    answer: (work, terms) => {
      const index = current();
      if (index.answer === undefined) return work({});
      let tries = 0;
      return index.answer((answer) => {
        // Begun anew, it stays with the index that it began with.
        if (tries++ > 0) answered.set(answer, index);
        return work(answer);
      }, terms);
    },
    search: (request) => indexOf(request.answer, request.followed).search(request),
    follow: (request) => indexOf(request.answer, request.followed).follow(request),
    explain: async (request) => indexOf(request.answer, false).explain?.(request),
    warm: async () => current().warm?.(),
    close: () => current().close(),
  };
}
