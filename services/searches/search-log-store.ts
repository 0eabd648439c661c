import { join } from 'node:path';
import { openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { replaceDamaged } from '../../shared/sqlite/replace-damaged.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';
import { SHORT_WAIT_MS } from '../../shared/sqlite/when-unlocked.ts';

/** Words that were searched in a type and a locale on a day. `day`: days since 1970, in UTC. */
export type SearchedOnDay = {
  readonly type: string;
  readonly locale: string;
  readonly words: string;
  readonly day: number;
};

/** Counts of searches. `none`: those that found nothing. `corrected`: those in which a word was corrected. */
export type SearchCounts = {
  readonly count: number;
  readonly none: number;
  readonly corrected: number;
  /** Example of a correction; null: there was none. */
  readonly correction: string | null;
};

/** Clicks on hits, and the sum of the places of these hits, from 1. */
export type ClickCounts = { readonly clicks: number; readonly places: number };

export type StoredSearch = SearchedOnDay & SearchCounts & ClickCounts;

/** Counts to add, by the id of the words on that day. */
export type SearchToAdd = {
  readonly id: string;
  readonly searched: SearchedOnDay;
  readonly counts: SearchCounts;
};
export type ClicksToAdd = ClickCounts & { readonly id: string };

/** Different words of a day. Further ones are only counted as dropped. */
export const MOST_A_DAY = 10_000;

export type SearchLogStore = ReturnType<typeof openSearchLogStore>;

const MIGRATIONS = [
  `
  -- id: signature of the other columns of the key. places: sum of the places of clicked hits.
  CREATE TABLE searches (
    type TEXT NOT NULL,
    locale TEXT NOT NULL,
    words TEXT NOT NULL,
    day INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    count INTEGER NOT NULL,
    none INTEGER NOT NULL,
    corrected INTEGER NOT NULL,
    correction TEXT,
    clicks INTEGER NOT NULL DEFAULT 0,
    places INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (type, locale, words, day)
  ) WITHOUT ROWID;
  CREATE INDEX searches_by_day ON searches (day);

  CREATE TABLE dropped (day INTEGER PRIMARY KEY, count INTEGER NOT NULL);
  `,
];

const SEARCHES_FILE = 'searches.db';

/** Returns the path of the file in a data directory. */
export function searchLogFile(folder: string): string {
  return join(folder, SEARCHES_FILE);
}

/**
 * Opens the file in a data directory, or makes it. Several processes may have it open. A statement throws if another process has locked the
 * file. The file keeps nothing of removed rows.
 */
export function openSearchLogStore(folder: string) {
  const options = { durability: 'normal', migrations: MIGRATIONS, waitMs: SHORT_WAIT_MS } as const;
  const db = openDatabase(searchLogFile(folder), options);
  db.exec('PRAGMA secure_delete = ON');
  const number = (sql: string, ...values: number[]) => Number(prepared(db, sql).get(...values)?.['n'] ?? 0);
  const wordsOn = (day: number) => number('SELECT count(*) AS n FROM searches WHERE day = ?', day);
  const isKnown = ({ type, locale, words, day }: SearchedOnDay) =>
    prepared(db, KNOWN).get(type, locale, words, day) !== undefined;
  const drop = (day: number, count: number) => {
    if (count > 0) prepared(db, DROP).run(day, count);
  };
  return {
    /** Adds counts, all or none. Counts of new words beyond the limit of the day are only added to those that are dropped. */
    add(searches: readonly SearchToAdd[]): void {
      transaction(db, () => {
        for (const [day, ofDay] of Map.groupBy(searches, ({ searched }) => searched.day)) {
          let left = MOST_A_DAY - wordsOn(day);
          for (const search of ofDay) {
            if (isKnown(search.searched) || left-- > 0) prepared(db, ADD).run(...columnsOf(search));
            else drop(day, search.counts.count);
          }
        }
      });
    },
    /** Adds searches to those whose words are not known. */
    drop: (day: number, count: number) => transaction(db, () => drop(day, count)),
    /** Adds clicks, all or none. Returns those whose search is not in the file. */
    addClicks: (clicks: readonly ClicksToAdd[]): readonly ClicksToAdd[] =>
      transaction(db, () =>
        clicks.filter(
          ({ id, clicks: count, places }) => prepared(db, ADD_CLICKS).run(count, places, id).changes === 0,
        ),
      ),
    /** Returns the rows after one, in the order of type, locale, words and day. */
    after: ({ type, locale, words, day }: SearchedOnDay, limit: number): readonly StoredSearch[] =>
      prepared(db, AFTER).all(type, locale, words, day, limit) as unknown as readonly StoredSearch[],
    /** Returns how many searches were dropped since a day. */
    droppedSince: (day: number) => number('SELECT sum(count) AS n FROM dropped WHERE day >= ?', day),
    /** Removes rows of earlier days, at most `limit`, and returns how many it removed. */
    removeBefore: (day: number, limit: number): number =>
      transaction(db, () => {
        prepared(db, 'DELETE FROM dropped WHERE day < ?').run(day);
        return Number(prepared(db, REMOVE).run(day, limit).changes);
      }),
    /** Empties the write-ahead log, which has removed rows. Does nothing while another process reads the file. */
    forget: () => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    close: () => db.close(),
  };
}

const KNOWN = 'SELECT 1 FROM searches WHERE type = ? AND locale = ? AND words = ? AND day = ?';
/** With another access key the same words get another id. */
const ADD = `
  INSERT INTO searches (type, locale, words, day, id, count, none, corrected, correction)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    id = excluded.id,
    count = count + excluded.count,
    none = none + excluded.none,
    corrected = corrected + excluded.corrected,
    correction = coalesce(excluded.correction, correction)`;
const DROP = `
  INSERT INTO dropped (day, count) VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET count = count + excluded.count`;
const ADD_CLICKS = 'UPDATE searches SET clicks = clicks + ?, places = places + ? WHERE id = ?';
const AFTER = `
  SELECT type, locale, words, day, count, none, corrected, correction, clicks, places FROM searches
  WHERE (type, locale, words, day) > (?, ?, ?, ?) ORDER BY type, locale, words, day LIMIT ?`;
const REMOVE = 'DELETE FROM searches WHERE id IN (SELECT id FROM searches WHERE day < ? LIMIT ?)';

function columnsOf({ id, searched, counts }: SearchToAdd) {
  const { type, locale, words, day } = searched;
  const { count, none, corrected, correction } = counts;
  return [type, locale, words, day, id, count, none, corrected, correction];
}

/** Renames a damaged file, and returns its path; undefined if the file is missing or can be read. No process may have it open. */
export function replaceDamagedSearchLog(folder: string): string | undefined {
  const file = searchLogFile(folder);
  return replaceDamaged(file, ['searches', 'dropped']) ? file : undefined;
}
