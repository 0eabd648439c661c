import { listValues } from '../lists/row-lists.ts';
import type { LinkSide } from './links.ts';
import type { Step } from './row-set.ts';

type Up = Pick<Step, 'up'>;

/** Returns the rows at the end of steps from a row, each once. */
export function endsOf(steps: readonly Pick<Step, 'down'>[], row: number): Iterable<number> {
  const sides = steps.map(({ down }) => down);
  return reach(sides, row);
}

/** Returns the rows from which steps lead to a row, each once, even if many paths lead there. */
export function startsOf(steps: readonly Up[], row: number): Iterable<number> {
  return reach(upwards(steps), row);
}

/** Returns the same rows; undefined if they are more than `most`, or if a step on the way leads to more. */
export function fewStartsOf(
  steps: readonly Up[],
  row: number,
  most: number,
): ReadonlySet<number> | undefined {
  return reach(upwards(steps), row, most);
}

function upwards(steps: readonly Up[]): readonly LinkSide[] {
  return steps.map(({ up }) => up).reverse();
}

function reach(sides: readonly LinkSide[], row: number): ReadonlySet<number>;
function reach(sides: readonly LinkSide[], row: number, most: number): ReadonlySet<number> | undefined;
function reach(
  sides: readonly LinkSide[],
  row: number,
  most = Number.POSITIVE_INFINITY,
): ReadonlySet<number> | undefined {
  let reached = new Set([row]);
  for (const { lists } of sides) {
    const next = new Set<number>();
    for (const each of reached) {
      for (const linked of listValues(lists, each)) if (next.add(linked).size > most) return undefined;
    }
    reached = next;
  }
  return reached;
}
