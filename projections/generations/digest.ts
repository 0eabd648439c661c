import { hash } from 'node:crypto';
import { valueAt } from '../../shared/map-values.ts';

/**
 * A part of a generation: a row, a link, a counter. Two generations are equal if they have the same items. `group`: items that are reported
 * together, such as a content type's rows of a world. `name`: identifies the item within its group.
 */
export type Item = { readonly group: string; readonly name: string; readonly content: string };

/** Number of a group's items, and the sum of their hashes, which does not depend on their order. */
export type GroupDigest = { readonly count: number; readonly sum: string };
export type Digest = ReadonlyMap<string, GroupDigest>;

type Sum = { count: number; readonly lanes: Uint32Array };

/** Creates the sum of no items. It adds items up, in any order. */
export function createDigestSum() {
  const sums = new Map<string, Sum>();
  return {
    add(item: Item): void {
      const known = valueAt(sums, item.group, () => ({ count: 0, lanes: new Uint32Array(LANES) }));
      known.count++;
      const bytes = itemHash(item);
      for (let lane = 0; lane < LANES; lane++) {
        known.lanes[lane] = (known.lanes[lane] ?? 0) + bytes.readUInt32LE(lane * 4);
      }
    },
    digest: (): Digest =>
      new Map(
        [...sums]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([group, { count, lanes }]) => [group, { count, sum: textOf(lanes) }]),
      ),
  };
}

/** Four sums of 32 bits collide as rarely as one sum of 128 bits. */
const LANES = 4;

function textOf(lanes: Uint32Array): string {
  return [...lanes].map((lane) => lane.toString(16).padStart(8, '0')).join('');
}

/** Returns the groups whose items differ between the two sides. */
export function differingGroups(before: Digest, after: Digest): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((group) => {
      const [a, b] = [before.get(group), after.get(group)];
      return a?.count !== b?.count || a?.sum !== b?.sum;
    })
    .sort();
}

/** An item that differs between the two sides; a side that lacks it has undefined. */
export type Difference = {
  readonly group: string;
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/**
 * Creates the comparison of two empty sides. It takes all items of the first side, then all of the second. Keeps the first side in memory.
 */
export function createComparison(limit: number) {
  const left = new Map<string, Item>();
  const differences: Difference[] = [];
  let count = 0;
  const note = (difference: Difference): void => {
    count++;
    if (differences.length < limit) differences.push(difference);
  };
  return {
    before: (item: Item) => void left.set(keyOf(item), item),
    after(item: Item): void {
      const { group, name, content } = item;
      const known = left.get(keyOf(item));
      left.delete(keyOf(item));
      if (known?.content !== content) note({ group, name, before: known?.content, after: content });
    },
    /** Returns the first `limit` differences, and the number of all. */
    result() {
      for (const { group, name, content } of left.values())
        note({ group, name, before: content, after: undefined });
      left.clear();
      return { differences, count };
    },
  };
}

function keyOf({ group, name }: Item): string {
  return `${group}\n${name}`;
}

/** Returns the hash of an item. The length of the name comes first, so that no two items have the same text. */
function itemHash({ name, content }: Item): Buffer {
  return hash('sha256', `${name.length} ${name}${content}`, 'buffer');
}
