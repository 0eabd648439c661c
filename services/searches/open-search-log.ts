import { setImmediate as turn } from 'node:timers/promises';
import type { ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import { isBusy } from '../../shared/sqlite/failures.ts';
import { whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import { countSearches } from './count-searches.ts';
import { countedSearch, countsOf } from './counted-search.ts';
import { createPendingSearches, isSearchId, type PendingSearches, searchId } from './pending-searches.ts';
import { openSearchLogStore, replaceDamagedSearchLog, type SearchLogStore } from './search-log-store.ts';

export type SearchLogReport = {
  /** A damaged file was renamed. */
  readonly replaced: (file: string) => void;
  /** Counts could not be written now. They are kept in memory and tried again. */
  readonly failed: (error: unknown) => void;
};

export type SearchLogSettings = {
  /** Data directory of the server, which its workers share. */
  readonly folder: string;
  /** Days that are kept, with today. */
  readonly days: number;
  readonly report: SearchLogReport;
};

type SearchLogOptions = SearchLogSettings & {
  readonly key: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** True if no other process of the server has the file open. */
  readonly isFirst: boolean;
};

/** Counts of what people look for. */
export type SearchLog = {
  /** Returns `index` with a count of its searches. */
  readonly count: (index: ReadIndex) => ReadIndex;
  /** Returns the id under which clicks on the hits of a search are counted; undefined: the search is not counted. */
  readonly idOf: (request: SearchRequest) => string | undefined;
  /** Counts clicks on hits at these places, from 1. Ignores an id that no search has. */
  readonly clicked: (id: string, places: readonly number[]) => void;
  /** Days that are kept, with today. */
  readonly days: number;
  readonly store: SearchLogStore;
  /** Writes what waits in memory. Rejects if the file cannot be written. */
  readonly write: () => Promise<void>;
  /** Removes all counts, and returns how many rows the file had. */
  readonly clear: () => Promise<number>;
  /** Forgets what waits in memory. */
  readonly discard: () => void;
  readonly close: () => Promise<void>;
};

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const WRITE_EVERY_MS = 10_000;
/** Time for which a write waits for other processes. */
const UNLOCK_MS = 1_000;
/** Rows that are written or removed at once, on the thread that answers requests. */
const PART = 500;

/** Returns the day of a moment: days since 1970, in UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Returns the date of a day, such as 2026-03-01. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Opens the counts of a data directory. Throws if the file cannot be opened. */
export function openSearchLog(options: SearchLogOptions): SearchLog {
  const { folder, days, report, key, now, isFirst } = options;
  const replaced = isFirst ? replaceDamagedSearchLog(folder) : undefined;
  if (replaced !== undefined) report.replaced(replaced);
  const store = openSearchLogStore(folder);
  const pending = createPendingSearches(now);
  const writer = createWriter(store, pending, report);
  const removeOld = () => {
    // Never rejects: a failure is reported.
    void removeBefore(store, dayOf(now()) - days + 1).catch(report.failed);
  };
  const hourly = setInterval(removeOld, HOUR_MS).unref();
  removeOld();
  const searchedNow = (request: SearchRequest) => {
    const searched = countedSearch(request);
    if (searched === undefined) return undefined;
    const onDay = { ...searched, day: dayOf(now()) };
    return { id: searchId(key, onDay), searched: onDay };
  };
  return {
    count: (index) =>
      countSearches(index, (request, result) => {
        const found = searchedNow(request);
        if (found === undefined) return;
        pending.search(found.id, found.searched, countsOf(result));
        writer.later();
      }),
    idOf: (request) => searchedNow(request)?.id,
    clicked(id, places) {
      if (places.length === 0 || !isSearchId(id)) return;
      pending.click({ id, clicks: places.length, places: places.reduce((sum, place) => sum + place, 0) });
      writer.later();
    },
    days,
    store,
    write: writer.write,
    async clear() {
      pending.clear();
      return removeBefore(store, Number.MAX_SAFE_INTEGER);
    },
    discard: pending.clear,
    async close() {
      clearInterval(hourly);
      await writer.close();
      store.close();
    },
  };
}

/** Removes the rows of earlier days, also from the write-ahead log, and returns how many there were. */
export async function removeBefore(
  store: Pick<SearchLogStore, 'removeBefore' | 'forget'>,
  day: number,
): Promise<number> {
  for (let sum = 0; ; await turn()) {
    const removed = await whenUnlocked(() => store.removeBefore(day, PART), AbortSignal.timeout(UNLOCK_MS));
    sum += removed;
    if (removed === PART) continue;
    if (sum > 0) store.forget();
    return sum;
  }
}

/** Writes what waits in memory some seconds after it came, part by part. */
function createWriter(store: SearchLogStore, pending: PendingSearches, { failed }: SearchLogReport) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  const writeParts = async () => {
    const unlocked = (part: () => void) => whenUnlocked(part, AbortSignal.timeout(UNLOCK_MS));
    while (pending.hasSearches()) {
      await unlocked(() => pending.passSearches(PART, store.add));
      await turn();
    }
    await unlocked(() => pending.passDropped(store.drop));
    await unlocked(() => pending.passClicks(store.addClicks));
  };
  const write = () => {
    writing ??= writeParts().finally(() => {
      writing = undefined;
    });
    return writing;
  };
  const later = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      // Never rejects: a failure is reported.
      void write()
        .catch((error: unknown) => {
          // If another process has locked the file, the next attempt writes.
          if (!isBusy(error)) failed(error);
        })
        .then(() => {
          if (!pending.isEmpty()) later();
        });
    }, WRITE_EVERY_MS).unref();
  };
  return {
    write,
    later,
    async close() {
      clearTimeout(timer);
      await write().catch(failed);
    },
  };
}
