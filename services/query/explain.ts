import { RequestError } from '../../shared/request-error.ts';
import { resolveFlag } from './own-parameters.ts';
import type { Problems } from './problems.ts';
import type { QueryValue } from './query-string.ts';

/**
 * `explain=true`: the answer's `meta.explain` shows the parsed filter, the bool query and the engine's query. Throws
 * RequestError (403) for a caller without the right.
 */
export function resolveExplain(value: QueryValue | undefined, allowed: boolean, problems: Problems): boolean {
  if (value === undefined) return false;
  const explain = resolveFlag(value, { param: 'explain', problems });
  if (!allowed) {
    throw new RequestError('explain-not-allowed', 'Explaining queries needs a token with full access', {
      source: 'query',
      param: 'explain',
    });
  }
  return explain === true;
}
