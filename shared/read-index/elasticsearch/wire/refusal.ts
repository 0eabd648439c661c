import { RequestError } from '../../../request-error.ts';
import type { SearchFailure } from './search-answer.ts';

/** Statuses of a removed index, of a cluster that is not ready or too busy, and of a gateway that cannot reach the cluster. */
const PASSING: readonly number[] = [404, 429, 502, 503, 504];

const TOO_LARGE = 413;

/**
 * Words in the reason why Elasticsearch refuses a search that is larger than it accepts, with the part of the request that is too large.
 * Types of errors come before settings, which are only in the messages.
 */
const LIMITS: readonly (readonly [words: string, what: string])[] = [
  ['too_many_nested_clauses', 'conditions and parts of texts'],
  ['too_many_clauses', 'conditions and parts of texts'],
  ['maxClauseCount', 'conditions and parts of texts'],
  ['max_nested_depth', 'levels of conditions'],
  ['index.max_terms_count', 'values, or related entries'],
  ['index.max_regex_length', 'characters of a word'],
  ['too_complex_to_determinize', 'characters of a word'],
  ['expanded to too many terms', 'words that begin alike'],
];

/** Returns the answer to a search that Elasticsearch did not carry out: 400 if the search is too large for it, 503 otherwise. */
export function refusalOf(failure: SearchFailure): RequestError {
  const { status, message } = failure;
  if (PASSING.includes(status)) return unavailable(failure);
  const limit = LIMITS.find(([words]) => message.includes(words));
  if (limit === undefined && status !== TOO_LARGE) return refused(failure);
  const what = limit?.[1] ?? 'bytes of a search';
  return new RequestError('query-too-large', `Invalid query: too many ${what} for Elasticsearch`, {
    source: 'query',
    found: what,
    accepted: 'fewer conditions, shorter texts, or narrower filters on related entries',
  });
}

/** Returns the 503 for a request to the cluster that failed. */
export function outageOf(error: unknown): RequestError {
  const { statusCode } = error as { readonly statusCode?: number };
  return statusCode === undefined || PASSING.includes(statusCode) ? unavailable(error) : refused(error);
}

/** Returns the 503 for a cluster that cannot be reached, is too busy, or has just removed an index. `cause`: for the log. */
export function unavailable(cause: unknown): RequestError {
  const message = 'The read index cannot be reached right now';
  return new RequestError('read-index-unavailable', message, {}, { cause });
}

/** Returns the 503 for a content type whose index must not be read, and the reason. */
export function unreadable(type: string, reason: string): RequestError {
  const message = `The read index of ${type} cannot be read right now: ${reason}`;
  return new RequestError('read-index-unavailable', message);
}

/** Returns the 503 for a document of another program, which lacks what every document of Varve has. */
export function foreignDocument(): RequestError {
  const message =
    'The read index has a document that Varve did not write: varve verify names it, and varve rebuild of its type replaces it';
  return new RequestError('read-index-unavailable', message);
}

/** Returns the 503 for a cluster whose settings or rights do not allow the request. The log has the cluster's reason. */
function refused(cause: unknown): RequestError {
  return new RequestError('read-index-unavailable', 'The read index refuses the request', {}, { cause });
}
