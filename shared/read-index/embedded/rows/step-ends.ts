import { listValues } from '../lists/row-lists.ts';
import type { LinkSide } from './links.ts';
import type { Step } from './row-set.ts';

/** Returns the rows at the end of steps from a row, each once. */
export function endsOf(steps: readonly Step[], row: number): Iterable<number> {
  const sides = steps.map(({ down }) => down);
  return reach(sides, row);
}

/** Returns the rows from which steps lead to a row, each once, even if many paths lead there. */
export function startsOf(steps: readonly Step[], row: number): Iterable<number> {
  return reach(steps.map(({ up }) => up).reverse(), row);
}

function reach(sides: readonly LinkSide[], row: number): Iterable<number> {
  let reached: Iterable<number> = [row];
  for (const { lists } of sides) {
    const next = new Set<number>();
    for (const each of reached) for (const linked of listValues(lists, each)) next.add(linked);
    reached = next;
  }
  return reached;
}
