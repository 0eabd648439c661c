import { RequestError } from '../request-error.ts';

/**
 * Error for an answer that takes longer than the time limit of an engine. The limit counts only the engine's own work on this answer. So it
 * is a 400: repeating the query would take as long, and the client has to change it.
 */
export class QueryTooExpensive extends RequestError {
  constructor(limitMs: number) {
    super('query-too-expensive', `Invalid query: it takes more than ${limitMs} ms to answer`, {
      found: `more than ${limitMs} ms of work`,
      accepted: `at most ${limitMs} ms: filter and sort through fewer relations, or populate fewer`,
    });
  }
}
