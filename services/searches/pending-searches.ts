import { hmac } from '../../shared/text-digest.ts';
import type {
  ClickCounts,
  ClicksToAdd,
  SearchCounts,
  SearchedOnDay,
  SearchToAdd,
} from './search-log-store.ts';

/** Different words, and clicked searches, that wait in memory. Searches of further words are only counted as dropped. */
const MOST_PENDING = 10_000;

/** Milliseconds for which a click waits for its search, which another worker of the server may not have written yet. */
const CLICK_WAITS_MS = 30_000;

const HEX_DIGITS = 32;

type PendingClick = ClickCounts & { readonly until: number };

/** Counts that are not in the file yet. */
export type PendingSearches = ReturnType<typeof createPendingSearches>;

/** Creates counts in memory. `now`: milliseconds since 1970. */
export function createPendingSearches(now: () => number) {
  const searches = new Map<string, { readonly searched: SearchedOnDay; readonly counts: SearchCounts }>();
  const clicks = new Map<string, PendingClick>();
  const dropped = new Map<number, number>();
  const click = ({ id, clicks: count, places }: ClicksToAdd, until: number) => {
    const known = clicks.get(id);
    if (known === undefined && clicks.size === MOST_PENDING) return;
    clicks.set(id, {
      clicks: (known?.clicks ?? 0) + count,
      places: (known?.places ?? 0) + places,
      until: known?.until ?? until,
    });
  };
  return {
    search(id: string, searched: SearchedOnDay, counts: SearchCounts): void {
      const known = searches.get(id)?.counts;
      if (known === undefined && searches.size === MOST_PENDING) {
        dropped.set(searched.day, (dropped.get(searched.day) ?? 0) + counts.count);
        return;
      }
      searches.set(id, { searched, counts: known === undefined ? counts : sumOf(known, counts) });
    },
    click: (clicked: ClicksToAdd) => click(clicked, now() + CLICK_WAITS_MS),
    isEmpty: () => searches.size === 0 && clicks.size === 0 && dropped.size === 0,
    /** Passes the first searches on, and forgets them unless `add` throws. */
    passSearches(limit: number, add: (searches: readonly SearchToAdd[]) => void): void {
      const first = [...searches.entries().take(limit)].map(([id, each]) => ({ id, ...each }));
      add(first);
      for (const { id } of first) searches.delete(id);
    },
    hasSearches: () => searches.size > 0,
    /** Passes the dropped searches of each day on, and forgets them unless `add` throws. */
    passDropped(add: (day: number, count: number) => void): void {
      for (const [day, count] of dropped) {
        add(day, count);
        dropped.delete(day);
      }
    },
    /** Passes all clicks on. Those that `add` returns wait until their time is over. */
    passClicks(add: (clicks: readonly ClicksToAdd[]) => readonly ClicksToAdd[]): void {
      if (clicks.size === 0) return;
      const unknown = add(
        [...clicks].map(([id, { clicks: count, places }]) => ({ id, clicks: count, places })),
      );
      const waiting = unknown.map((each) => [each, clicks.get(each.id)?.until ?? 0] as const);
      clicks.clear();
      for (const [each, until] of waiting) if (until > now()) click(each, until);
    },
    clear(): void {
      searches.clear();
      clicks.clear();
      dropped.clear();
    },
  };
}

function sumOf(one: SearchCounts, other: SearchCounts): SearchCounts {
  return {
    count: one.count + other.count,
    none: one.none + other.none,
    corrected: one.corrected + other.corrected,
    correction: other.correction ?? one.correction,
  };
}

/** Returns the id of words on a day. Every process with the key makes the same, and nobody else can read the words from it. */
export function searchId(key: Uint8Array, { day, type, locale, words }: SearchedOnDay): string {
  return hmac(key, JSON.stringify([day, type, locale, words]))
    .toString('hex')
    .slice(0, HEX_DIGITS);
}

/** Returns whether a text may be the id of words. */
export function isSearchId(text: string): boolean {
  return text.length === HEX_DIGITS && /^[0-9a-f]+$/.test(text);
}
