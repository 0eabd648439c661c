import { isOutage } from '../../../shared/request-error.ts';
import { QueryTooExpensive } from '../../../shared/turns/query-too-expensive.ts';
import type { AnswerTerms } from '../../../shared/turns/turns.ts';

/**
 * Makes the answer to a stored write. It waits its turn however many others wait. null, which becomes a 202 without the entry, if it still
 * takes too much or too long: a stored write is never reported as an error.
 */
export async function answerToWrite<Body>(make: (terms: AnswerTerms) => Promise<Body>): Promise<Body | null> {
  try {
    return await make({ isOwed: true });
  } catch (error) {
    if (error instanceof QueryTooExpensive || isOutage(error)) return null;
    throw error;
  }
}
