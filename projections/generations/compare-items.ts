import { createComparison, createDigestSum, type Difference, differingGroups, type Item } from './digest.ts';

/** Reads one side of a comparison in slices, from the beginning at each call. With `groups` it may omit items of all other groups. */
export type ComparedItems = (groups?: ReadonlySet<string>) => Slices;

type Slices = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;

/** Number of all differences, and as many of them as are shown. */
export type FoundDifferences = { readonly differences: readonly Difference[]; readonly count: number };

export type ComparisonMeter = {
  /** Reports that more items were read, and the time this took. May resolve later to slow the comparison down. */
  worked(items: number, milliseconds: number): Promise<void>;
};

/**
 * Compares in two steps. The first finds the groups that differ. It skips items that are equal at the same index of both sides. It adds up
 * the digests of all others, because the sides may have different orders. The second step reads those groups again and finds the items that
 * differ.
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
    if (count === 0) return differingGroups(one.digest(), other.digest());
    for (let at = 0; at < count; at++) {
      // Equal items add the same to both sums, so both sums omit them.
      if (isSame(a[at], b[at])) continue;
      one.add(a[at]);
      other.add(b[at]);
    }
    one.drop(count);
    other.drop(count);
    await meter.worked(Math.min(a.length, count) + Math.min(b.length, count), performance.now() - started);
  }
}

function isSame(item: Item | undefined, other: Item | undefined): boolean {
  return item?.content === other?.content && item?.name === other?.name && item?.group === other?.group;
}

/**
 * Creates one side of a comparison. It has the items that were read and not compared yet. It also has the sum of the items that differed
 * from the other side.
 */
function createSide(slices: Slices) {
  const unread = flatten(slices);
  const sum = createDigestSum();
  let items: readonly Item[] = [];
  return {
    items: () => items,
    add(item: Item | undefined): void {
      if (item !== undefined) sum.add(item);
    },
    digest: sum.digest,
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
