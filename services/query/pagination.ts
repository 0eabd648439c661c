import { defined } from '../../shared/defined.ts';
import { plainText } from '../../shared/plain-text.ts';
import { BOOLEAN_TEXTS, booleanOf } from './cast-operand.ts';
import { invalidValue, type Problems } from './problems.ts';
import { isQueryObject, type QueryObject, type QueryValue } from './query-string.ts';

/** Rows of a page, and their form in `meta.pagination` (SEMANTICS section 6). */
export type Pagination = {
  readonly form: 'page' | 'offset' | 'cursor';
  readonly start: number;
  readonly limit: number;
  readonly withCount: boolean;
  /** True: all entries, which `meta.pagination` shows as a size of -1. */
  readonly everything?: boolean;
  /** Cursor in the request; '' begins a walk. */
  readonly cursor?: string;
};

/** Maximum number of entries on a page, also without a configured limit. */
export const MAX_PAGE = 100_000;

/** Default for the maximum number of skipped rows; cursors have no such limit. */
export const DEFAULT_MAX_OFFSET = 50_000;

/** Page settings of an installation. */
export type PageRules = {
  /** Maximum number of entries that a page may skip; absent: DEFAULT_MAX_OFFSET. */
  readonly maxOffset?: number;
  /** Entries of a page without a given size: Strapi's `rest.defaultLimit`; absent = 25. Infinity: all entries, as -1 in Strapi. */
  readonly defaultLimit?: number;
  /** A larger page is cut to this, silently: Strapi's `rest.maxLimit`; absent = 100. */
  readonly maxLimit?: number;
  /** True: lists have their total unless the request says otherwise, as Strapi's `rest.withCount`; absent: true. */
  readonly withCount?: boolean;
};

type Rows = Pick<Pagination, 'start' | 'limit'>;
type Limits = { readonly defaultLimit: number; readonly maxLimit: number };

/** A list with root `page` or `pageSize` gets this message too, because Strapi itself adds `start` and `limit` there. */
const MIXED =
  'Invalid pagination parameters. Cannot use both page-based (page, pageSize) and offset-based (start, limit) pagination in the same query.';

/** Root parameters of pages, each with its smallest value. */
const ROOT_PAGES = { page: 1, pageSize: 1, start: 0, limit: 1 };

/** Refuses malformed root parameters of pages in requests for one entry. Well-formed ones have no effect there. */
export function refuseRootPages(query: QueryObject, problems: Problems): void {
  const { page, pageSize, start, limit } = query;
  if ((isGiven(page) || isGiven(pageSize)) && (isGiven(start) || isGiven(limit)))
    refuse(problems, MIXED, { page, pageSize, start, limit }, 'page and pageSize, or start and limit');
  for (const [param, least] of Object.entries(ROOT_PAGES)) {
    const value = query[param];
    if (!isGiven(value)) continue;
    const number = Number(plainText(value));
    const isNoLimit = param === 'limit' && number === -1;
    if (isNoLimit || (Number.isInteger(number) && number >= least)) continue;
    const accepted = `integer >= ${least}${param === 'limit' ? ' or -1' : ''}`;
    const expected = `${accepted}, received: ${plainText(value)}`;
    problems.push(invalidValue(param, value, accepted, { expected }));
  }
}

/**
 * Resolves `pagination[…]` into the wanted rows. Refuses root `page` and `pageSize`, and ignores root `start` and
 * `limit`.
 */
export function resolvePagination(query: QueryObject, problems: Problems, rules: PageRules = {}): Pagination {
  const { defaultLimit = 25, maxLimit = 100, withCount: counts = true } = rules;
  const limits = { defaultLimit: Math.min(defaultLimit, maxLimit), maxLimit };
  const isEverything = defaultLimit === Number.POSITIVE_INFINITY;
  // As in Strapi, the limit of a page does not apply to a request without a page.
  const everything = { form: 'page', start: 0, limit: MAX_PAGE, everything: true } as const;
  const firstPage = { form: 'page', start: 0, limit: limits.defaultLimit } as const;
  const absent: Pagination = { ...(isEverything ? everything : firstPage), withCount: counts };
  if (isGiven(query['page']) || isGiven(query['pageSize'])) {
    const found = { page: query['page'], pageSize: query['pageSize'] };
    refuse(problems, MIXED, found, 'pagination[page], pagination[pageSize]');
  }
  const value = query['pagination'];
  // Strapi reads only members, and a text or a list has none.
  if (!isQueryObject(value)) return absent;
  const withCount = resolveWithCount(value['withCount'], counts, problems);
  if (value['cursor'] !== undefined) return { ...cursorForm(value, problems, limits), withCount };
  const isPage = (value['page'] ?? value['pageSize'] ?? null) !== null;
  const isOffset = (value['start'] ?? value['limit'] ?? null) !== null;
  if (!isPage && !isOffset && isEverything) return { ...absent, withCount };
  if (isPage && isOffset) {
    problems.push({
      phase: 'pages',
      code: 'invalid-pagination',
      message: 'Cannot use both page & offset pagination in the same query',
      param: 'pagination',
      found: value,
      accepted: 'page and pageSize, or start and limit',
    });
    return absent;
  }
  const rows = isOffset ? offsetForm(value, problems, limits) : pageForm(value, problems, limits);
  const hasSize = (value['pageSize'] ?? value['limit'] ?? null) !== null;
  const isWhole = isEverything && !hasSize && maxLimit >= MAX_PAGE;
  // In Strapi every page of all entries begins with the first one.
  const wanted = isWhole ? { ...rows, start: isOffset ? rows.start : 0, everything: true } : rows;
  refuseFarOffset(wanted.start, value, problems, rules.maxOffset);
  return { form: namesPage(value) ? 'page' : 'offset', ...wanted, withCount };
}

function isGiven(value: QueryValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Returns whether the answer has the form with page numbers. Keys without a value count too. */
function namesPage({ page, pageSize, start, limit }: QueryObject): boolean {
  return page !== undefined || pageSize !== undefined || (start === undefined && limit === undefined);
}

/** Refuses large offsets, because skipping rows costs as much as reading them. The message names cursors as the alternative. */
export function refuseFarOffset(
  start: number,
  found: unknown,
  problems: Problems,
  maxOffset = DEFAULT_MAX_OFFSET,
): void {
  if (start <= maxOffset) return;
  const message = `Cannot skip ${start} entries: at most ${maxOffset}. To read on from there use pagination[cursor]: empty to begin, then meta.pagination.nextCursor of each answer`;
  problems.push({
    phase: 'parameter',
    code: 'invalid-pagination',
    message,
    param: 'pagination',
    found,
    accepted: `an offset of at most ${maxOffset}, or pagination[cursor]`,
  });
}

/** Returns `meta.pagination` of an answer. `nextCursor` is null on the last page of a walk. */
export function describePagination(
  pagination: Pagination,
  total: number | undefined,
  nextCursor: string | null = null,
): object {
  const { start } = pagination;
  const limit = pagination.everything === true ? -1 : pagination.limit;
  if (pagination.form === 'cursor') {
    return { pageSize: limit, ...defined({ total }), nextCursor };
  }
  if (pagination.form === 'offset') return total === undefined ? { start, limit } : { start, limit, total };
  const page = Math.floor(start / pagination.limit) + 1;
  if (total === undefined) return { page, pageSize: limit };
  return { page, pageSize: limit, pageCount: limit === -1 ? 0 : Math.ceil(total / limit), total };
}

/** Resolves `pagination[cursor]` with the page size in either form. A cursor page has no number. */
function cursorForm(value: QueryObject, problems: Problems, limits: Limits): Omit<Pagination, 'withCount'> {
  const { page, start, pageSize, limit } = value;
  if ((page ?? start ?? null) !== null || (pageSize !== undefined && limit !== undefined)) {
    problems.push({
      phase: 'parameter',
      code: 'invalid-pagination',
      message: 'Cannot use a cursor together with page or start, nor pageSize with limit',
      param: 'pagination',
      found: value,
      accepted: 'cursor and pageSize',
    });
  }
  const cursor = value['cursor'] ?? '';
  if (typeof cursor !== 'string')
    refuse(problems, 'Invalid cursor', cursor, "an answer's nextCursor, or empty");
  return {
    form: 'cursor',
    start: 0,
    limit: resolveLimit(value, limit === undefined ? 'pageSize' : 'limit', limits, problems),
    cursor: typeof cursor === 'string' ? cursor : '',
  };
}

function pageForm(value: QueryObject, problems: Problems, limits: Limits): Rows {
  const limit = resolveLimit(value, 'pageSize', limits, problems);
  const page = Math.max(1, numberOf(value['page'], 1));
  return { start: checkStart((page - 1) * limit, value['page'], problems), limit };
}

function offsetForm(value: QueryObject, problems: Problems, limits: Limits): Rows {
  const limit = resolveLimit(value, 'limit', limits, problems);
  const start = Math.max(0, numberOf(value['start'], 0));
  return { start: checkStart(start, value['start'], problems), limit };
}

/** Returns a number; NaN for any other value, including lists and objects; `absent` without a value. */
function numberOf(value: QueryValue | undefined, absent: number): number {
  if (value === undefined || value === null) return absent;
  return typeof value === 'string' ? Number(value) : Number.NaN;
}

function checkStart(start: number, found: QueryValue | undefined, problems: Problems): number {
  if (Number.isSafeInteger(start)) return start;
  const message = `Invalid parameter at 'start'. Expected integer >= 0, received: ${start}`;
  refuse(problems, message, found, 'an integer');
  return 0;
}

/** Refuses values that Strapi takes for one row (a limit of -1, an empty limit or page size) or for all rows (a text). */
function resolveLimit(
  pagination: QueryObject,
  name: 'pageSize' | 'limit',
  { defaultLimit, maxLimit }: Limits,
  problems: Problems,
): number {
  const value = pagination[name];
  const limit = numberOf(value, defaultLimit);
  const noLimit = value === '' || (name === 'limit' && limit === -1);
  if (noLimit || Number.isNaN(limit) || (limit > 1 && limit < maxLimit && !Number.isInteger(limit))) {
    const message = `Invalid parameter at 'limit'. Expected integer >= 1 or -1, received: ${plainText(value)}`;
    refuse(problems, message, value, `an integer from 1 to ${maxLimit}`);
    return defaultLimit;
  }
  return Math.trunc(Math.min(maxLimit, Math.max(1, limit)));
}

function resolveWithCount(value: QueryValue | undefined, absent: boolean, problems: Problems): boolean {
  if (value === undefined) return absent;
  const withCount = booleanOf(value);
  if (withCount !== undefined) return withCount;
  problems.push({
    phase: 'count',
    message: 'Invalid withCount parameter. Expected "t","1","true","false","0","f"',
    param: 'pagination',
    found: value,
    accepted: BOOLEAN_TEXTS,
  });
  return absent;
}

function refuse(problems: Problems, message: string, found: unknown, accepted: unknown): void {
  problems.push({ phase: 'parameter', message, param: 'pagination', found: found ?? null, accepted });
}
