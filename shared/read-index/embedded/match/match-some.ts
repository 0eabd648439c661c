import { halt, PART, rest } from '../../../turns/slice.ts';
import { type Bits, decodeRows, STRETCH, setBit } from '../lists/bits.ts';
import { LINK_COST, WORD_COST } from '../lists/costs.ts';
import { listCount, type RowLists } from '../lists/row-lists.ts';
import { borrowBits, type RowSetIndex, releaseBits, type Step } from '../rows/row-set.ts';
import { collectMatches, type Matcher } from './matcher.ts';

/** Matches rows of `rowSet` with at least one row at the end of `step` that `inner` matches. */
export function matchSome(rowSet: RowSetIndex, step: Step, inner: Matcher): Matcher {
  const links = step.down.lists.total;
  const targetsPerRow = links / Math.max(1, rowSet.count);
  const rowsPerTarget = links / Math.max(1, step.target.count);
  let matched: Bits | undefined;
  /** Number of words of `matched` whose links were traversed; -1: `matched` is being collected. */
  let traversed = -1;
  const scattering = inner.estimate * (1 + rowsPerTarget) * LINK_COST;
  return {
    estimate: Math.min(rowSet.count, inner.estimate * rowsPerTarget),
    cost: inner.cost + (step.target.size / 32) * WORD_COST + scattering,
    testCost: 5 + targetsPerRow * (LINK_COST + inner.testCost),
    collect: (into) => {
      matched ??= borrowBits(step.target);
      if (traversed < 0) collectMatches(inner, matched);
      traversed = Math.max(0, traversed);
      while (traversed < matched.length) {
        scatter(step.up.lists, matched, traversed, into);
        traversed += STRETCH;
        rest(PART);
      }
      releaseBits(step.target, matched);
    },
    test: (row) => someLinked(step.down.lists, row, inner.test),
  };
}

/** Matches rows of `rowSet` with any row at the end of `step`. */
export function matchAnyLinked(rowSet: RowSetIndex, step: Step): Matcher {
  const { lists } = step.down;
  return {
    estimate: Math.min(rowSet.count, lists.total),
    cost: rowSet.size,
    testCost: 2,
    collect: (into) => {
      const { counts } = lists;
      const size = Math.min(rowSet.size, counts.length);
      for (let row = 0; row < size; row++) if (counts[row] !== 0) setBit(into, row);
    },
    test: (row) => listCount(lists, row) > 0,
  };
}

/** Adds to `into` the lists of the rows in a stretch. */
function scatter(lists: RowLists, rows: Bits, first: number, into: Bits): void {
  const { counts, heads, pool } = lists;
  const decoded = decodeRows(rows, first);
  for (let i = 0; i < decoded.count; i++) {
    const row = decoded.rows[i] as number;
    const count = counts[row] as number;
    const head = heads[row] as number;
    if (count > 1) {
      for (let at = head; at < head + count; at++) setBit(into, pool[at] as number);
      // There is no branch between no entry and one, because it would be unpredictable. An empty list sets no bit.
    } else into[head >>> 5] = (into[head >>> 5] as number) | (count << (head & 31));
  }
}

function someLinked(lists: RowLists, row: number, test: (row: number) => boolean): boolean {
  if (row >= lists.counts.length) return false;
  const count = lists.counts[row] as number;
  const head = lists.heads[row] as number;
  if (count < 2) return count === 1 && test(head);
  const { pool } = lists;
  halt(count);
  for (let at = head; at < head + count; at++) if (test(pool[at] as number)) return true;
  return false;
}
