import type { AnswerScope, ReadIndex } from '../../shared/read-index/read-index.ts';
import type { AnswerTerms } from '../../shared/turns/turns.ts';

/** Makes an answer from one state of the index, if the index supports that. */
export function onSnapshot<Result>(
  index: ReadIndex,
  terms: AnswerTerms,
  work: (answer: AnswerScope) => Promise<Result>,
): Promise<Result> {
  return index.answer === undefined ? work({}) : index.answer(work, terms);
}
