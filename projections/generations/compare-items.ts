import {
  createComparison,
  createDigestSum,
  type Difference,
  type DigestSum,
  differingGroups,
  type Item,
} from './digest.ts';

/** One side of a comparison, in slices, from the beginning at each call. `groups`: of these alone, as far as others can be spared. */
export type ComparedItems = (groups?: ReadonlySet<string>) => Slices;

type Slices = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;

/** So many differences as are shown; all are counted. */
export type FoundDifferences = { readonly differences: readonly Difference[]; readonly count: number };

export type ComparisonMeter = {
  /** So many more items were read, in so many milliseconds. */
  worked(items: number, milliseconds: number): Promise<void>;
};

/**
 * Compares in two steps. The first finds the groups that differ: items at the same place of both sides that are equal need no more
 * work, all others are summed up, as the sides may have another order. The second reads the groups that differ again, and finds
 * their items.
 */
export async function compareItems(
  before: ComparedItems,
  after: ComparedItems,
  meter: ComparisonMeter,
  shown: number,
): Promise<FoundDifferences> {
  const groups = new Set(await findDifferingGroups(before(), after(), meter));
  if (groups.size === 0) return { differences: [], count: 0 };
  const comparison = createComparison(shown);
  const pick = (take: (item: Item) => void) => (item: Item) => {
    if (groups.has(item.group)) take(item);
  };
  await eachItem(before(groups), pick(comparison.before), meter);
  await eachItem(after(groups), pick(comparison.after), meter);
  return comparison.result();
}

async function findDifferingGroups(
  before: Slices,
  after: Slices,
  meter: ComparisonMeter,
): Promise<readonly string[]> {
  const [one, other] = [createSide(before), createSide(after)];
  for (let started = performance.now(); ; started = performance.now()) {
    await Promise.all([one.fill(), other.fill()]);
    const [a, b] = [one.items(), other.items()];
    const count = Math.min(a.length, b.length) || Math.max(a.length, b.length);
    if (count === 0) return differingGroups(one.sum.digest(), other.sum.digest());
    for (let at = 0; at < count; at++) addDifferent([one.sum, a[at]], [other.sum, b[at]]);
    one.drop(count);
    other.drop(count);
    await meter.worked(Math.min(a.length, count) + Math.min(b.length, count), performance.now() - started);
  }
}

/** Equal items change both sums alike, so they are left out of both. */
function addDifferent(...[[sum, item], [otherSum, other]]: readonly [Summed, Summed]): void {
  const isSame =
    item?.content === other?.content && item?.name === other?.name && item?.group === other?.group;
  if (isSame) return;
  if (item !== undefined) sum.add(item);
  if (other !== undefined) otherSum.add(other);
}

type Summed = readonly [sum: DigestSum, item: Item | undefined];

/** One side of a comparison: the items that were read and not compared yet, and the sum of the others that found no twin. */
function createSide(slices: Slices) {
  const unread = flatten(slices);
  let items: readonly Item[] = [];
  return {
    sum: createDigestSum(),
    items: () => items,
    async fill(): Promise<void> {
      while (items.length === 0) {
        const { value, done } = await unread.next();
        if (done === true) return;
        items = value;
      }
    },
    drop: (count: number) => {
      items = items.slice(count);
    },
  };
}

async function* flatten(slices: Slices): AsyncGenerator<readonly Item[], void> {
  yield* slices;
}

async function eachItem(slices: Slices, take: (item: Item) => void, meter: ComparisonMeter): Promise<void> {
  let started = performance.now();
  for await (const slice of slices) {
    for (const item of slice) take(item);
    await meter.worked(slice.length, performance.now() - started);
    started = performance.now();
  }
}
