import type { DocumentIndex } from '../../shared/read-index/document-index.ts';

/** What was written without waiting until searches see it: seen with the next refresh. */
export type Refreshes = {
  /** Documents were written that show changes from `since` on. */
  written(since: bigint): void;
  /** The oldest change that searches may not see though it is written; undefined: they see everything. */
  oldest(): bigint | undefined;
  /** Makes all of it visible. Rejects when the index cannot do that now. */
  refresh(): Promise<void>;
  /** The same, unless it was done a moment ago. */
  refreshNowAndThen(): Promise<void>;
};

/** Milliseconds after which what was written can be found. */
const REFRESH_EVERY = 5_000;
/** Of the time refreshes have at most one part in so many. */
const SHARE = 20;

/** What processes before this one wrote may not be visible either. */
export function createRefreshes(index: Pick<DocumentIndex, 'refresh'>): Refreshes {
  let pending: bigint | undefined = 0n;
  /** Being made visible, by a refresh for each. */
  const underWay = new Set<{ readonly since: bigint }>();
  let last = 0;
  let took = 0;
  const note = (since: bigint) => {
    pending = pending === undefined || since < pending ? since : pending;
  };
  const refresh = async (): Promise<void> => {
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
  return {
    written: note,
    oldest() {
      let oldest = pending;
      for (const { since } of underWay) if (oldest === undefined || since < oldest) oldest = since;
      return oldest;
    },
    refresh,
    async refreshNowAndThen() {
      if (performance.now() - last >= Math.max(REFRESH_EVERY, took * SHARE)) await refresh();
    },
  };
}
