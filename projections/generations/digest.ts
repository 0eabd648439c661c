import { hash } from 'node:crypto';
import { valueAt } from '../../shared/map-values.ts';

/**
 * Something a generation holds: a row, a link, a counter. Two generations are equal when they have the same items. `group`: what
 * is reported together, such as a content type's rows of a world. `name`: which one it is within its group.
 */
export type Item = { readonly group: string; readonly name: string; readonly content: string };

/** Sums of the hashes of a group's items, whatever their order. */
export type GroupDigest = { readonly count: number; readonly sum: string };
export type Digest = ReadonlyMap<string, GroupDigest>;

/** Adds items up, in any order. */
export type DigestSum = { add(item: Item): void; digest(): Digest };

type Sum = { count: number; readonly lanes: Uint32Array };

/** Creates the sum of no items. */
export function createDigestSum(): DigestSum {
  const sums = new Map<string, Sum>();
  return {
    add(item) {
      const known = valueAt(sums, item.group, () => ({ count: 0, lanes: new Uint32Array(LANES) }));
      known.count++;
      const bytes = itemHash(item);
      for (let lane = 0; lane < LANES; lane++) {
        known.lanes[lane] = (known.lanes[lane] ?? 0) + bytes.readUInt32LE(lane * 4);
      }
    },
    digest: () =>
      new Map(
        [...sums]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([group, { count, lanes }]) => [group, { count, sum: textOf(lanes) }]),
      ),
  };
}

/** Four sums of 32 bits are met by chance as seldom as one of 128. */
const LANES = 4;

function textOf(lanes: Uint32Array): string {
  return [...lanes].map((lane) => lane.toString(16).padStart(8, '0')).join('');
}

/** Groups whose items are not the same on both sides. */
export function differingGroups(before: Digest, after: Digest): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((group) => {
      const [a, b] = [before.get(group), after.get(group)];
      return a?.count !== b?.count || a?.sum !== b?.sum;
    })
    .sort();
}

/** An item that is not the same on both sides; what is missing there is undefined. */
export type Difference = {
  readonly group: string;
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
};

/** Finds the differences between two sides: first all items of one, then all of the other. Holds the first side in memory. */
export type DigestComparison = {
  before(item: Item): void;
  after(item: Item): void;
  /** The first `limit` of them, and how many there are. */
  result(): { readonly differences: readonly Difference[]; readonly count: number };
};

/** Creates the comparison of two empty sides. */
export function createComparison(limit: number): DigestComparison {
  const left = new Map<string, Item>();
  const differences: Difference[] = [];
  let count = 0;
  const note = (difference: Difference): void => {
    count++;
    if (differences.length < limit) differences.push(difference);
  };
  return {
    before: (item) => void left.set(keyOf(item), item),
    after(item) {
      const { group, name, content } = item;
      const known = left.get(keyOf(item));
      left.delete(keyOf(item));
      if (known?.content !== content) note({ group, name, before: known?.content, after: content });
    },
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

/** Lengths first, so that no two items have one text. */
function itemHash({ name, content }: Item): Buffer {
  return hash('sha256', `${name.length} ${name}${content}`, 'buffer');
}
