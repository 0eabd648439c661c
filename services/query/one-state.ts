import type { AnswerScope, ReadIndex } from '../../shared/read-index/read-index.ts';

/** Makes an answer of what the index has at one moment, where it can say so. */
export function onOneState<Result>(
  index: ReadIndex,
  { isWanted }: { readonly isWanted?: () => boolean },
  work: (answer: AnswerScope) => Promise<Result>,
): Promise<Result> {
  return index.answer === undefined ? work({}) : index.answer(work, isWanted);
}
