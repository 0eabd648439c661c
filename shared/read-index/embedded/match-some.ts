import { type Bits, setBit } from './bits.ts';
import type { Matcher } from './matcher.ts';
import { ROW_COST, WORD_COST } from './matcher.ts';
import { collectList } from './postings.ts';
import { listCount, type RowLists } from './row-lists.ts';
import { borrowBits, type RowSpaceIndex, releaseBits, type Step } from './row-space.ts';

/** Rows of `space` with at least one row at the end of `step` that `inner` matches. */
export function matchSome(space: RowSpaceIndex, step: Step, inner: Matcher): Matcher {
  const links = step.down.lists.total;
  const sourcesPerTarget = links / Math.max(1, step.target.count);
  const targetsPerSource = links / Math.max(1, space.count);
  const visits = inner.estimate * (1 + sourcesPerTarget);
  return {
    estimate: Math.min(space.count, inner.estimate * sourcesPerTarget),
    cost: inner.cost + (step.target.size / 32) * WORD_COST + visits * ROW_COST,
    testCost: 5 + targetsPerSource * inner.testCost,
    collect: (into) => {
      const matched = borrowBits(step.target);
      inner.collect(matched);
      collectLinked(step.up.lists, matched, into);
      releaseBits(step.target, matched);
    },
    test: (row) => someLinked(step.down.lists, row, inner.test),
  };
}

/** Rows of `space` with any row at the end of `step`. */
export function matchAnyLinked(space: RowSpaceIndex, step: Step): Matcher {
  const { lists } = step.down;
  return {
    estimate: Math.min(space.count, lists.total),
    cost: space.size,
    testCost: 2,
    collect: (into) => {
      const { counts } = lists;
      const size = Math.min(space.size, counts.length);
      for (let row = 0; row < size; row++) if (counts[row] !== 0) setBit(into, row);
    },
    test: (row) => listCount(lists, row) > 0,
  };
}

/** into |= everything in the lists of the set rows */
function collectLinked(lists: RowLists, rows: Bits, into: Bits): void {
  for (let i = 0; i < rows.length; i++) {
    for (let word = rows[i] as number; word !== 0; word &= word - 1) {
      collectList(lists, (i << 5) + 31 - Math.clz32(word & -word), into);
    }
  }
}

function someLinked(lists: RowLists, row: number, test: (row: number) => boolean): boolean {
  const count = listCount(lists, row);
  const start = lists.starts[row] as number;
  for (let place = start; place < start + count; place++) {
    if (test(lists.pool[place] as number)) return true;
  }
  return false;
}
