import type { GraphDatabase } from './graph-database.ts';

/** Counters of the graph. They are in memory, and are written with the batch that changes them. */
export type Sequences = {
  /** The next number, from 1. */
  next(name: string): number;
  /** Makes the next number greater than `value`. */
  raise(name: string, value: number): void;
  flush(): void;
};

/** Reads the last number of each counter; 0 for one that has none. */
export function loadSequences(db: GraphDatabase): Sequences {
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
    next: (name) => set(name, (last.get(name) ?? 0) + 1),
    raise(name, value) {
      if (value > (last.get(name) ?? 0)) set(name, value);
    },
    flush() {
      for (const name of moved) {
        db.run('INSERT OR REPLACE INTO sequences (name, value) VALUES (?, ?)', name, last.get(name) ?? 0);
      }
      moved.clear();
    },
  };
}
