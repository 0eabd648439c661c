import { RequestError } from '../request-error.ts';

/**
 * An answer exceeds the time limit of an engine. It is a 400 if only the engine's own work on this answer counts: the client has to change
 * the query, since repeating it would take as long.
 */
export class QueryTooExpensive extends RequestError {
  constructor(limitMs: number) {
    super('query-too-expensive', `Invalid query: it takes more than ${limitMs} ms to answer`, {
      found: `more than ${limitMs} ms of work`,
      accepted: `at most ${limitMs} ms: filter and sort through fewer relations, or populate fewer`,
    });
  }
}
