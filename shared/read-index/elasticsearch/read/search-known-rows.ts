import type { SearchAnswer } from '../wire/search-answer.ts';
import type { Search } from '../wire/write-search.ts';
import { type RowCache, type RowNeed, rowNeed, searchForDigests, withDigests } from './row-cache.ts';

/** Sends searches in one request. */
export type SendSearches = (searches: readonly Search[]) => Promise<readonly SearchAnswer[]>;

type RowSearch = { readonly search: Search; readonly need: RowNeed | undefined; readonly known: boolean };

/**
 * Runs searches without reading rows whose document digests are known. If a search finds an unknown row, it is repeated with rows. So an
 * answer always comes from one search.
 */
export async function searchKnownRows(
  rows: RowCache,
  searches: readonly Search[],
  send: SendSearches,
): Promise<readonly SearchAnswer[]> {
  const asked = searches.map((search): RowSearch => {
    const need = rowNeed(search);
    return { search, need, known: need !== undefined && rows.expects(search.index) };
  });
  const given = await send(asked.map(form));
  const answers = given.map((answer, i) => read(rows, asked[i] as RowSearch, answer));
  const missed = asked.filter((_, i) => answers[i] === undefined).map((each) => ({ ...each, known: false }));
  if (missed.length === 0) return answers as readonly SearchAnswer[];
  const again = await send(missed.map(form));
  const whole = again.map((answer, i) => read(rows, missed[i] as RowSearch, answer)).values();
  return answers.map((answer) => answer ?? (whole.next().value as SearchAnswer));
}

function form({ search, need, known }: RowSearch): Search {
  if (need === undefined) return search;
  return known ? searchForDigests(search) : withDigests(search);
}

/** Reads the answer to a search; undefined if a row is not known. */
function read(
  rows: RowCache,
  { search: { index }, need, known }: RowSearch,
  answer: SearchAnswer,
): SearchAnswer | undefined {
  if (need === undefined) return answer;
  if (known) return rows.fill(index, need, answer);
  rows.keep(index, need, answer);
  return answer;
}
