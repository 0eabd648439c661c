import { listValues } from './row-lists.ts';
import type { Step } from './row-set.ts';

/** The rows at the end of a way, each once. */
export function endsOf(steps: readonly Step[], row: number): Iterable<number> {
  let ends: Iterable<number> = [row];
  for (const { down } of steps) {
    const next = new Set<number>();
    for (const end of ends) for (const linked of listValues(down.lists, end)) next.add(linked);
    ends = next;
  }
  return ends;
}

/** Calls `mark` for the rows from which a way of so many steps leads to a row. */
export function markSources(
  steps: readonly Step[],
  level: number,
  mark: (row: number) => void,
): (row: number) => void {
  if (level === 0) return mark;
  const above = steps.slice(0, level).reverse();
  return (row) => {
    let rows = new Set([row]);
    for (const { up } of above) {
      const next = new Set<number>();
      for (const each of rows) for (const linked of listValues(up.lists, each)) next.add(linked);
      rows = next;
    }
    for (const each of rows) mark(each);
  };
}
