import type { Database } from './database.ts';
import { prepared } from './prepared.ts';

export type MetaValues = ReturnType<typeof metaValues>;

/** Texts by name, in the table `meta` of a file: `name TEXT PRIMARY KEY, value TEXT NOT NULL`. */
export function metaValues(db: Database) {
  return {
    /** Returns the parsed text of a name; undefined if there is none. */
    get<Value>(name: string, parse: (text: string) => Value): Value | undefined {
      const found = prepared(db, 'SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
      return found === undefined ? undefined : parse(String(found));
    },
    set(name: string, value: string): void {
      prepared(db, 'INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, value);
    },
    remove(name: string): void {
      prepared(db, 'DELETE FROM meta WHERE name = ?').run(name);
    },
  };
}
