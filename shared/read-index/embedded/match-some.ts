import { type Bits, setBit } from './bits.ts';
import { ROW_COST, WORD_COST } from './costs.ts';
import type { Matcher } from './matcher.ts';
import { listCount, listEntry, type RowLists } from './row-lists.ts';
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
  const { counts, heads, pool } = lists;
  const words = Math.min(rows.length, (counts.length + 31) >>> 5);
  for (let i = 0; i < words; i++) {
    for (let word = rows[i] as number; word !== 0; word &= word - 1) {
      const row = (i << 5) + 31 - Math.clz32(word & -word);
      const count = counts[row] as number;
      const head = heads[row] as number;
      if (count === 1) setBit(into, head);
      else for (let place = head; place < head + count; place++) setBit(into, pool[place] as number);
    }
  }
}

function someLinked(lists: RowLists, row: number, test: (row: number) => boolean): boolean {
  const count = listCount(lists, row);
  for (let index = 0; index < count; index++) if (test(listEntry(lists, row, index))) return true;
  return false;
}
