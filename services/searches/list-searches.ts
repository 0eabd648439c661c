import { setImmediate as turn } from 'node:timers/promises';
import type { SearchLogStore, StoredSearch } from './search-log-store.ts';

/** Counts that order the list. A row without the count is not in it. */
export const SEARCH_ORDERS = ['count', 'none', 'corrected', 'clicks'] as const;
export type SearchOrder = (typeof SEARCH_ORDERS)[number];

/** Question for the words that were searched since a day. `type` absent: in all types. */
export type SearchQuestion = {
  readonly since: number;
  readonly type: string | undefined;
  readonly order: SearchOrder;
};

/** Words that were searched in a type and a locale. `position`: mean place of the clicked hits, from 1; null: nobody clicked. */
export type ListedSearch = {
  readonly type: string;
  readonly locale: string;
  readonly query: string;
  readonly count: number;
  readonly none: number;
  readonly corrected: number;
  readonly correction: string | null;
  readonly clicks: number;
  readonly position: number | null;
};

/** `searches`: all that were counted. `queries`: different words. `dropped`: searches of all types whose words were not kept. */
export type SearchSums = { readonly searches: number; readonly queries: number; readonly dropped: number };

const MOST_LISTED = 100;
/** Rows that are read at once, on the thread that answers requests. */
const PART = 500;

/** Returns the first 100 words of an order. Other work runs between the parts of the file. */
export async function listSearches(
  store: Pick<SearchLogStore, 'after' | 'droppedSince'>,
  { since, type, order }: SearchQuestion,
): Promise<{ readonly listed: readonly ListedSearch[]; readonly sums: SearchSums }> {
  const ranking = createRanking(order);
  let last = { type: type ?? '', locale: '', words: '', day: -1 };
  for (;;) {
    const rows = store.after(last, PART);
    const ofType = rows.filter((row) => type === undefined || row.type === type);
    for (const row of ofType) if (row.day >= since) ranking.add(row);
    const next = ofType.at(-1);
    if (next === undefined || ofType.length < PART) break;
    last = next;
    await turn();
  }
  const { listed, searches, queries } = ranking.end();
  return { listed, sums: { searches, queries, dropped: store.droppedSince(since) } };
}

/** Ranks words whose rows come one after the other. */
function createRanking(order: SearchOrder) {
  let best: StoredSearch[] = [];
  let group: StoredSearch | undefined;
  let [searches, queries] = [0, 0];
  const keepBest = () => {
    best = best.sort(byOrder(order)).slice(0, MOST_LISTED);
  };
  const endGroup = () => {
    if (group === undefined) return;
    searches += group.count;
    queries += 1;
    if (group[order] > 0) best.push(group);
    if (best.length > PART) keepBest();
    group = undefined;
  };
  return {
    add(row: StoredSearch): void {
      if (group !== undefined && !isSame(group, row)) endGroup();
      group = group === undefined ? row : sumOfDays(group, row);
    },
    end() {
      endGroup();
      keepBest();
      return { listed: best.map(shown), searches, queries };
    },
  };
}

function isSame(one: StoredSearch, other: StoredSearch): boolean {
  return one.words === other.words && one.locale === other.locale && one.type === other.type;
}

function sumOfDays(one: StoredSearch, next: StoredSearch): StoredSearch {
  return {
    ...next,
    count: one.count + next.count,
    none: one.none + next.none,
    corrected: one.corrected + next.corrected,
    correction: next.correction ?? one.correction,
    clicks: one.clicks + next.clicks,
    places: one.places + next.places,
  };
}

function byOrder(order: SearchOrder) {
  return (one: StoredSearch, other: StoredSearch) =>
    other[order] - one[order] || other.count - one.count || compare(one.words, other.words);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function shown({ type, locale, words, clicks, places, ...counts }: StoredSearch): ListedSearch {
  const { count, none, corrected, correction } = counts;
  const position = clicks === 0 ? null : Math.round((places / clicks) * 10) / 10;
  return { type, locale, query: words, count, none, corrected, correction, clicks, position };
}
