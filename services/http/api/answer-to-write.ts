import { isOutage } from '../../../shared/request-error.ts';
import { QueryTooExpensive } from '../../../shared/turns/query-too-expensive.ts';
import type { AnswerTerms } from '../../../shared/turns/turns.ts';

/**
 * Makes the answer to a stored write, which waits for its turn even in a full queue. Returns null if the answer is too expensive or takes
 * too long. The client then gets a 202 without the entry, because a stored write is never reported as an error.
 */
export async function answerToWrite<Body>(make: (terms: AnswerTerms) => Promise<Body>): Promise<Body | null> {
  try {
    return await make({ isOwed: true });
  } catch (error) {
    if (error instanceof QueryTooExpensive || isOutage(error)) return null;
    throw error;
  }
}
