import type { DocumentIndex } from '../../shared/read-index/document-index.ts';

/** What was written without waiting until searches see it: seen with the next refresh. */
export type Refreshes = {
  /** Documents were written that show changes from `since` on. */
  written(since: bigint): void;
  /** The oldest change that searches may not see though it is written; undefined: they see everything. */
  oldest(): bigint | undefined;
  /** Makes all of it visible: nothing more is to be written for now. Rejects when the index cannot do that. */
  refresh(): Promise<void>;
  /**
   * The same while more is to be written, unless it was done a moment ago; less and less often where `isHeldBack`: what is still
   * to be written shows changes as old as these, so that nobody who waits for one would go on.
   */
  refreshNowAndThen(isHeldBack: boolean): Promise<void>;
};

/** Milliseconds after which what was written can be found. */
const REFRESH_EVERY = 5_000;
/**
 * The same at most, for what lets nobody go on. Each refresh makes a segment of whatever was written, however little, and small
 * segments are merged.
 */
const REFRESH_SELDOM = 60_000;
/** Of the time refreshes have at most one part in so many. */
const SHARE = 20;

/** What processes before this one wrote may not be visible either. */
export function createRefreshes(index: Pick<DocumentIndex, 'refresh'>): Refreshes {
  let pending: bigint | undefined = 0n;
  /** Being made visible, by a refresh for each. */
  const underWay = new Set<{ readonly since: bigint }>();
  /** When the first was written of what is being written. */
  let begun: number | undefined;
  let last = Number.NEGATIVE_INFINITY;
  let took = 0;
  const note = (since: bigint) => {
    pending = pending === undefined || since < pending ? since : pending;
  };
  const show = async (): Promise<void> => {
    if (pending === undefined) return;
    const part = { since: pending };
    pending = undefined;
    last = performance.now();
    underWay.add(part);
    try {
      await index.refresh();
      took = performance.now() - last;
    } catch (error) {
      note(part.since);
      throw error;
    } finally {
      underWay.delete(part);
    }
  };
  const pauseOf = (isHeldBack: boolean): number => {
    const soFar = isHeldBack && begun !== undefined ? last - begun : 0;
    return Math.max(REFRESH_EVERY, Math.min(REFRESH_SELDOM, soFar), took * SHARE);
  };
  return {
    written(since) {
      begun ??= performance.now();
      note(since);
    },
    oldest() {
      let oldest = pending;
      for (const { since } of underWay) if (oldest === undefined || since < oldest) oldest = since;
      return oldest;
    },
    async refresh() {
      begun = undefined;
      await show();
    },
    async refreshNowAndThen(isHeldBack) {
      if (performance.now() - last >= pauseOf(isHeldBack)) await show();
    },
  };
}
