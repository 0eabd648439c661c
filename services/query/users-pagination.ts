import { plainText } from '../../shared/plain-text.ts';
import type { Pagination } from './pagination.ts';
import { invalidValue, type Problems } from './problems.ts';
import type { QueryObject } from './query-string.ts';

/**
 * Resolves root `start` and `limit` into the wanted rows, in the dialect of `/api/users` (SEMANTICS section 11); without them all rows.
 * Well-formed `page` and `pageSize` have no effect.
 */
export function resolveUsersPagination(query: QueryObject, problems: Problems): Pagination {
  refusePages(query, problems);
  const start = wholeNumber(query, 'start', 0, problems);
  const limit = wholeNumber(query, 'limit', Number.POSITIVE_INFINITY, problems);
  return { form: 'offset', start, limit, withCount: false };
}

function refusePages(query: QueryObject, problems: Problems): void {
  const has = (...names: readonly string[]) => names.some((name) => (query[name] ?? null) !== null);
  if (!has('page', 'pageSize')) return;
  const refuse = (param: string, message: string, found: unknown, accepted: unknown) =>
    problems.push({ phase: 'parameter', code: 'invalid-pagination', message, param, found, accepted });
  if (has('start', 'limit')) {
    const { page, pageSize, start, limit } = query;
    const message =
      'Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object';
    refuse('page', message, { page, pageSize, start, limit }, 'start and limit');
  }
  for (const name of ['page', 'pageSize']) {
    const text = plainText(query[name] ?? 1);
    const number = Number(text);
    if (Number.isInteger(number) && number > 0) continue;
    const message = `Invalid '${name}' parameter. Expected an integer > 0, received: ${text}`;
    refuse(name, message, query[name], 'an integer from 1');
  }
}

/** Refuses a limit of 0 or -1, which returns all rows in Strapi. */
function wholeNumber(
  query: QueryObject,
  name: 'start' | 'limit',
  absent: number,
  problems: Problems,
): number {
  const value = query[name] ?? null;
  if (value === null || value === '') return absent;
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  const least = name === 'limit' ? 1 : 0;
  if (Number.isSafeInteger(number) && number >= least) return number;
  const expected = `integer >= ${least}, received: ${number}`;
  problems.push(invalidValue(name, value, `an integer from ${least}`, { expected }));
  return absent;
}
