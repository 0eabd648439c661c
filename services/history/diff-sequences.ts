/** A run of items: in both sequences, only in the first, or only in the second. */
export type Run<Item> = { readonly kind: 'same' | 'removed' | 'added'; readonly items: readonly Item[] };

/** Largest number of items that may differ. Its square is the time. Above it the middle parts count as replaced. */
const MOST_EDITS = 1_000;

/**
 * Returns a shortest list of runs that leads from one sequence to another (Myers, "An O(ND) Difference Algorithm", 1986). Where they differ,
 * what was removed comes first. `keyOf` names an item: items with equal names are equal.
 */
export function diffSequences<Item>(
  from: readonly Item[],
  to: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Run<Item>[] {
  const [a, b] = [from.map(keyOf), to.map(keyOf)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const kept = keptItems(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const runs: Run<Item>[] = [{ kind: 'same', items: to.slice(0, start) }];
  let [x, y] = [start, start];
  for (const [keptX, keptY, length] of [
    ...kept,
    [a.length - end - start, b.length - end - start, end] as const,
  ]) {
    runs.push({ kind: 'removed', items: from.slice(x, start + keptX) });
    runs.push({ kind: 'added', items: to.slice(y, start + keptY) });
    runs.push({ kind: 'same', items: to.slice(start + keptY, start + keptY + length) });
    [x, y] = [start + keptX + length, start + keptY + length];
  }
  return runs.filter(({ items }) => items.length > 0);
}

/** Slots in both sequences, and the number of equal items from there on. */
type Kept = readonly [x: number, y: number, length: number];

/** Returns the items that both sequences keep, in order; none if too many differ. */
function keptItems(a: readonly string[], b: readonly string[]): readonly Kept[] {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const furthest = new Int32Array(2 * most + 3);
  const steps: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    steps.push(furthest.slice());
    for (let line = -edits; line <= edits; line += 2) {
      let x = beginOf(furthest, most, edits, line);
      while (x < a.length && x - line < b.length && a[x] === b[x - line]) x++;
      furthest[most + 1 + line] = x;
      if (x >= a.length && x - line >= b.length) return walkBack(steps, most, { x, y: x - line });
    }
  }
  return [];
}

/** Returns where a diagonal begins after one more edit: below the diagonal before it, or right of the one after it. */
function beginOf(furthest: Int32Array, most: number, edits: number, line: number): number {
  const isDown = goesDown(furthest, most, edits, line);
  return isDown ? (furthest[most + 2 + line] ?? 0) : (furthest[most + line] ?? 0) + 1;
}

/** Returns whether the last edit before a diagonal adds an item. The other kind removes one. */
function goesDown(furthest: Int32Array, most: number, edits: number, line: number): boolean {
  const [left = 0, right = 0] = [furthest[most + line], furthest[most + 2 + line]];
  return line === -edits || (line !== edits && left < right);
}

function walkBack(
  steps: readonly Int32Array[],
  most: number,
  { x, y }: { x: number; y: number },
): readonly Kept[] {
  const kept: Kept[] = [];
  for (let edits = steps.length - 1; edits >= 0; edits--) {
    const before = steps[edits] as Int32Array;
    const begin = edits === 0 ? 0 : beginOf(before, most, edits, x - y);
    const isDown = goesDown(before, most, edits, x - y);
    if (x > begin) kept.unshift([begin, y - (x - begin), x - begin]);
    y -= x - begin;
    x = begin;
    if (isDown) y -= 1;
    else x -= 1;
  }
  return kept;
}
