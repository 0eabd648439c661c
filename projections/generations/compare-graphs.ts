import { JOURNAL_SINCE } from '../graph/store/projector-version.ts';
import { type ComparisonMeter, compareItems, type FoundDifferences } from './compare-items.ts';
import { createDigestSum, type Digest, type Item } from './digest.ts';
import type { ComparedTable } from './equal-tables.ts';
import type { ContentScope, GraphContents } from './graph-contents.ts';

/** Two graphs at one position of the log. */
export type ComparedGraphs = {
  readonly before: GraphContents;
  readonly after: GraphContents;
  readonly scope: ContentScope;
};

const ITEMS_AT_ONCE = 20_000;

/**
 * Compares two graphs by names and content. Numbers that depend on the batches of the log make no difference. Makes items only of the
 * tables whose rows differ between the two files. There is no other comparison of graphs.
 */
export async function compareGraphs(
  { before, after, scope }: ComparedGraphs,
  meter: ComparisonMeter,
  shown: number,
): Promise<FoundDifferences> {
  const equal = await before.equalTables(after, meter);
  const omitted = hasJournal(before) && hasJournal(after) ? equal : equal.union(JOURNAL);
  return compareItems(
    () => inSlices(before.items(scope, omitted)),
    () => inSlices(after.items(scope, omitted)),
    meter,
    shown,
  );
}

const JOURNAL: ReadonlySet<ComparedTable> = new Set(['journal']);

/** The journal of an earlier projector's graph lacks changes. */
function hasJournal({ versions }: GraphContents): boolean {
  return versions.projector >= JOURNAL_SINCE;
}

/** Returns the digest of a graph without its journal, which earlier backups did not count, for a comparison with another graph later. */
export function digestGraph(contents: GraphContents): Digest {
  const sum = createDigestSum();
  for (const item of contents.items({}, JOURNAL)) sum.add(item);
  return sum.digest();
}

function* inSlices(items: Iterable<Item>): Generator<readonly Item[]> {
  let slice: Item[] = [];
  for (const item of items) {
    if (slice.push(item) < ITEMS_AT_ONCE) continue;
    yield slice;
    slice = [];
  }
  yield slice;
}
