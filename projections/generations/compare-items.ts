import { createComparison, createDigestSum, type Difference, differingGroups, type Item } from './digest.ts';

/** One side of a comparison, in slices, from the beginning at each call. `groups`: of these alone, as far as others can be spared. */
export type ComparedItems = (
  groups?: ReadonlySet<string>,
) => Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>;

/** So many differences as are shown; all are counted. */
export type FoundDifferences = { readonly differences: readonly Difference[]; readonly count: number };

export type ComparisonMeter = {
  /** So many more items were read, in so many milliseconds. */
  worked(items: number, milliseconds: number): Promise<void>;
};

/** Sums first; only where they differ the items themselves, of the groups that differ. */
export async function compareItems(
  before: ComparedItems,
  after: ComparedItems,
  meter: ComparisonMeter,
  shown: number,
): Promise<FoundDifferences> {
  const digests = [];
  for (const side of [before, after]) {
    const sum = createDigestSum();
    await eachItem(side(), sum.add, meter);
    digests.push(sum.digest());
  }
  const [a = new Map(), b = new Map()] = digests;
  const groups = new Set(differingGroups(a, b));
  if (groups.size === 0) return { differences: [], count: 0 };
  const comparison = createComparison(shown);
  const pick = (take: (item: Item) => void) => (item: Item) => {
    if (groups.has(item.group)) take(item);
  };
  await eachItem(before(groups), pick(comparison.before), meter);
  await eachItem(after(groups), pick(comparison.after), meter);
  return comparison.result();
}

async function eachItem(
  slices: ReturnType<ComparedItems>,
  take: (item: Item) => void,
  meter: ComparisonMeter,
): Promise<void> {
  let started = performance.now();
  for await (const slice of slices) {
    for (const item of slice) take(item);
    await meter.worked(slice.length, performance.now() - started);
    started = performance.now();
  }
}
