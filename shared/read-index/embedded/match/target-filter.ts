import { SLICE_OVER } from '../../../turns/slice.ts';
import type { BoolQuery } from '../../bool-query.ts';
import { type Bits, hasBit } from '../lists/bits.ts';
import { listCount } from '../lists/row-lists.ts';
import type { Step } from '../rows/row-set.ts';
import { bindQuery, type QueryContext } from './bind-query.ts';
import { createMatchedRows, type Matcher } from './matcher.ts';

/** Filter for targets of links. */
export type TargetFilter = {
  /** Prepares the filter. Call it before `keeps`, and again in each slice. */
  readonly prepare: () => void;
  readonly keeps: (row: number) => boolean;
};

/**
 * Creates a filter, which tests each target. If many targets are linked, it looks them up among all matches. Returns undefined if all
 * targets are wanted.
 */
export function createTargetFilter(
  context: QueryContext,
  parents: readonly number[],
  query: BoolQuery | undefined,
  step: Step,
): TargetFilter | undefined {
  if (query === undefined || query.kind === 'match_all') return undefined;
  let matcher: Matcher | undefined;
  let tests = true;
  let collect: (() => Bits) | undefined;
  let matched: Bits | undefined;
  const bind = () => {
    const bound = bindQuery(context, step.target, query);
    let linked = 0;
    for (const parent of parents) linked += listCount(step.down.lists, parent);
    tests = linked * bound.testCost < bound.cost;
    return bound;
  };
  return {
    prepare() {
      matcher ??= bind();
      if (tests || matched !== undefined) return;
      collect ??= createMatchedRows(step.target, matcher);
      matched = collect();
    },
    keeps(row) {
      if (matched !== undefined) return hasBit(matched, row);
      try {
        return (matcher as Matcher).test(row);
      } catch (error) {
        // One test takes more than a slice, so all matches are collected instead.
        if (error === SLICE_OVER) tests = false;
        throw error;
      }
    },
  };
}
