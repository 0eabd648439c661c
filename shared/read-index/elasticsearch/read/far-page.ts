import { RequestError } from '../../../request-error.ts';
import { type Hits, NO_HITS, type SearchResult } from '../../read-index.ts';
import { OFFSET_LIMIT, WINDOW } from '../layout/index-definition.ts';
import { type SortClause, sortDsl } from '../plan/plan-sort.ts';
import { type PageSearch, readHits, readPage } from './page-search.ts';
import type { KnownTotals } from './session.ts';

/** Maximum attempts. The number of matches may change while a page is read. */
const TRIES = 3;

/**
 * Reads a page at a large offset. Beyond the middle, the other end of the order is nearer, which needs the number of matching rows. It
 * assumes the last count, and the search itself confirms or corrects it.
 */
export async function readFarPage(
  search: PageSearch,
  clauses: readonly SortClause[],
  totals: KnownTotals,
): Promise<SearchResult> {
  const { session, request } = search;
  const { type, from, size, withTotal } = request;
  const name = `${session.names.alias(type, session.world)} ${JSON.stringify(search.query)}`;
  const known = totals.get(name);
  let total = known !== undefined && known > from ? known : await countMatches(search);
  for (let tries = 1; ; tries++) {
    if (total <= from) return { total: withTotal ? total : undefined, hits: NO_HITS };
    const length = Math.min(size, total - from);
    if (from > OFFSET_LIMIT) refuse(`an offset of ${from}`, from, `offsets up to ${OFFSET_LIMIT}; beyond,`);
    if (length > WINDOW - from)
      refuse(`all of ${total} entries at once`, `${total} entries`, `at most ${WINDOW} in one answer;`);
    const page = await readAt(search, clauses, { from, length, total });
    totals.set(name, page.total);
    if (page.total === total || tries === TRIES) {
      return { total: withTotal ? page.total : undefined, hits: page.hits };
    }
    total = page.total;
  }
}

type FarPlace = { readonly from: number; readonly length: number; readonly total: number };

async function readAt(
  search: PageSearch,
  clauses: readonly SortClause[],
  { from, length, total }: FarPlace,
): Promise<{ readonly total: number; readonly hits: Hits }> {
  const reversed = from > total / 2;
  const start = reversed ? total - from - length : from;
  const sort = sortDsl(clauses, reversed);
  const page = { from: start, size: length, sort, track_total_hits: true };
  const { hits } = await readPage(search, page);
  const found = reversed ? [...hits.hits].reverse() : hits.hits;
  return { total: hits.total?.value ?? 0, hits: readHits(search, found) };
}

async function countMatches({ session, request, query }: PageSearch): Promise<number> {
  const { hits } = await session.search(request.type, { size: 0, query, track_total_hits: true });
  return hits.total?.value ?? 0;
}

function refuse(what: string, found: string | number, most: string): never {
  throw new RequestError('page-too-far', `Invalid pagination: ${what}`, {
    param: 'pagination',
    source: 'query',
    found,
    accepted: `${most} go from page to page with pagination[cursor]`,
  });
}
