import type { GraphDatabase } from './graph-database.ts';

/** Counters of the graph. They are in memory, and are written with the batch that changes them. */
export type Sequences = ReturnType<typeof loadSequences>;

/** Reads the last number of each counter; 0 for one that has none. */
export function loadSequences(db: GraphDatabase) {
  const last = new Map<string, number>();
  for (const [name, value] of db.all('SELECT name, value FROM sequences'))
    last.set(String(name), Number(value));
  const moved = new Set<string>();
  const set = (name: string, value: number): number => {
    last.set(name, value);
    moved.add(name);
    return value;
  };
  return {
    /** Returns the next number, from 1. */
    next: (name: string): number => set(name, (last.get(name) ?? 0) + 1),
    /** Makes the next number greater than `value`. */
    raise(name: string, value: number): void {
      if (value > (last.get(name) ?? 0)) set(name, value);
    },
    flush(): void {
      for (const name of moved) {
        db.run('INSERT OR REPLACE INTO sequences (name, value) VALUES (?, ?)', name, last.get(name) ?? 0);
      }
      moved.clear();
    },
  };
}
