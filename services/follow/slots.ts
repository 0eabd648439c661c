import { firstWhere } from '../../shared/first-where.ts';

/**
 * Gives each member of a list a number so that the numbers grow along the list. As many members as possible keep their number, because each
 * changed number needs one more event.
 */
export function slotsOf(
  list: readonly string[],
  known: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const kept = longestGrowing(list.map((member) => known.get(member)));
  const slots = new Map<string, number>();
  for (let at = 0; at < list.length; ) {
    const number = kept[at];
    if (number !== undefined) {
      slots.set(list[at] as string, number);
      at++;
      continue;
    }
    let end = at;
    while (end < list.length && kept[end] === undefined) end++;
    const between = numbersBetween(kept[at - 1], kept[end], end - at);
    // Two neighbouring numbers are too close for another number between them.
    if (between === undefined) return new Map(list.map((member, slot) => [member, slot + 1]));
    for (const [offset, slot] of between.entries()) slots.set(list[at + offset] as string, slot);
    at = end;
  }
  return slots;
}

/** Returns growing numbers between two bounds, of which either may be undefined. Returns undefined if they do not fit. */
function numbersBetween(
  low: number | undefined,
  high: number | undefined,
  count: number,
): readonly number[] | undefined {
  if (high === undefined) return Array.from({ length: count }, (_, at) => Math.floor(low ?? 0) + at + 1);
  const bottom = low ?? high - count - 1;
  const step = (high - bottom) / (count + 1);
  const numbers = Array.from({ length: count }, (_, at) => bottom + step * (at + 1));
  return [bottom, ...numbers, high].every((number, at, all) => at === 0 || number > (all[at - 1] as number))
    ? numbers
    : undefined;
}

/** Returns the list with only the numbers of a longest growing subsequence; all others are undefined. */
function longestGrowing(numbers: readonly (number | undefined)[]): readonly (number | undefined)[] {
  /** Index of the last number of the best subsequence of each length: the one whose last number is smallest. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [at, number] of numbers.entries()) {
    if (number === undefined) continue;
    const shorter = firstWhere(
      ends.length,
      (length) => (numbers[ends[length] as number] as number) >= number,
    );
    before[at] = ends[shorter - 1];
    ends[shorter] = at;
  }
  const kept: (number | undefined)[] = numbers.map(() => undefined);
  for (let at = ends.at(-1); at !== undefined; at = before[at]) kept[at] = numbers[at];
  return kept;
}
