import { RequestError } from '../request-error.ts';

/**
 * An answer exceeds an engine's time limit. A 400 if only the engine's own work on this answer counts: repeating the
 * query would take as long, so it has to change.
 */
export class QueryTooExpensive extends RequestError {
  constructor(limitMs: number) {
    super('query-too-expensive', `Invalid query: it takes more than ${limitMs} ms to answer`, {
      found: `more than ${limitMs} ms of work`,
      accepted: `at most ${limitMs} ms: filter and sort through fewer relations, or populate fewer`,
    });
  }
}
