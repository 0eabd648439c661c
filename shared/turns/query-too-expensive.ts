import { RequestError } from '../request-error.ts';

/**
 * An answer takes an engine longer than it may. A 400 where only the engine's own work on this answer counts: then it is the
 * query that has to change, as asked again it would take as long again.
 */
export class QueryTooExpensive extends RequestError {
  constructor(limitMs: number) {
    super(400, 'ValidationError', `Invalid query: it takes more than ${limitMs} ms to answer`, {
      found: `more than ${limitMs} ms of work`,
      accepted: `at most ${limitMs} ms: filter and sort through fewer relations, or populate fewer`,
    });
  }
}
