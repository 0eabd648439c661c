import type { AnswerScope, ReadIndex } from '../../shared/read-index/read-index.ts';
import type { AnswerTerms } from '../../shared/turns/turns.ts';

/** Makes an answer of what the index has at one moment, where it can say so. */
export function onOneState<Result>(
  index: ReadIndex,
  terms: AnswerTerms,
  work: (answer: AnswerScope) => Promise<Result>,
): Promise<Result> {
  return index.answer === undefined ? work({}) : index.answer(work, terms);
}
