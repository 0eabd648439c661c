import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { StaleDocuments } from '../graph/stale/stale-documents.ts';

/** Tracks documents that were written without waiting for a refresh. The next refresh makes them visible. */
export type Refreshes = ReturnType<typeof createRefreshes>;

/** Milliseconds after which written documents become visible. */
const REFRESH_EVERY = 5_000;
/**
 * Maximum for documents that no caller waits for. Each refresh makes a segment of the documents written, however few, and small segments
 * must be merged.
 */
const REFRESH_SELDOM = 60_000;
/** Refreshes take at most 1/SHARE of the time: after one that took a second, the next begins 20 seconds after it began. */
const SHARE = 20;

/** Returns the lower of two positions, of which either may be absent. */
export function older(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

/** Creates the tracking. At first changes from position 0 are pending, because documents of previous processes may be invisible too. */
export function createRefreshes(
  index: Pick<DocumentIndex, 'refresh'>,
  { unseen, noteUnseen }: Pick<StaleDocuments, 'unseen' | 'noteUnseen'>,
) {
  let pending: bigint | undefined = 0n;
  /** Changes that refreshes are making visible now. */
  const refreshing = new Set<{ readonly since: bigint }>();
  /** Time when the current write began. */
  let begun: number | undefined;
  let last = Number.NEGATIVE_INFINITY;
  let took = 0;
  const note = (since: bigint) => {
    pending = older(pending, since);
  };
  const show = async (): Promise<void> => {
    if (pending === undefined) return;
    const part = { since: pending };
    const shown = unseen();
    pending = undefined;
    last = performance.now();
    refreshing.add(part);
    try {
      await index.refresh();
      took = performance.now() - last;
      if (shown > 0) noteUnseen(Math.max(0, unseen() - shown));
    } catch (error) {
      note(part.since);
      throw error;
    } finally {
      refreshing.delete(part);
    }
  };
  const pauseOf = (isDelayed: boolean): number => {
    const soFar = isDelayed && begun !== undefined ? last - begun : 0;
    return Math.max(REFRESH_EVERY, Math.min(REFRESH_SELDOM, soFar), took * SHARE);
  };
  return {
    /** Records that documents were written, or are possibly written, which show changes from position `since` on. */
    written(since: bigint, documents: number): void {
      begun ??= performance.now();
      noteUnseen(unseen() + documents);
      note(since);
    },
    /** Returns the position of the oldest change that is written and that searches may not see; undefined if they see everything. */
    oldest: (): bigint | undefined =>
      [...refreshing].reduce((oldest, { since }) => older(oldest, since), pending),
    /** Makes all written documents visible, when no more follow for now. Rejects if the index cannot do that. */
    async refresh(): Promise<void> {
      begun = undefined;
      await show();
    },
    /**
     * Refreshes while more documents follow, unless it did so a moment ago. It refreshes less and less often if `isDelayed`. Then unwritten
     * documents have changes as old as these, so a refresh would help no waiting caller.
     */
    async refreshNowAndThen(isDelayed: boolean): Promise<void> {
      if (performance.now() - last >= pauseOf(isDelayed)) await show();
    },
  };
}
