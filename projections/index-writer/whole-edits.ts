import type { Condition } from '../../shared/condition.ts';
import type { Target } from '../graph/stale/stale-rows.ts';

/**
 * Targets whose edits are being written in several requests that become visible by one refresh. Other lanes must not refresh them in
 * between: searches would see a part of what one command wrote, such as a release.
 */
export type WholeEdits = ReturnType<typeof createWholeEdits>;

/** Milliseconds to wait for requests of others: one that hangs must not stop the others. A refresh of the backlog has more time. */
const LONGEST_WAIT_MS = { edits: 2_000, backlog: 20_000 };

/** Creates the set. `copying` returns the targets whose copies are being written. */
export function createWholeEdits(
  changed: Condition,
  copying: () => Iterable<Target>,
  refresh: () => Promise<void>,
) {
  const targets = new Set<Target>();
  let refreshes = 0;
  const isCopied = (target: Target) => [...copying()].some((each) => isSame(each, target));
  return {
    targets: (): readonly Target[] => [...targets],
    /** Resolves when no refresh of others can make a part visible, or after a moment. Call `end` afterwards. */
    async begin(target: Target): Promise<void> {
      targets.add(target);
      await changed.until(() => refreshes === 0 && !isCopied(target), LONGEST_WAIT_MS.edits);
    },
    end(target: Target): void {
      targets.delete(target);
      changed.check();
    },
    /** Refreshes what the backlog wrote, when no edits are written in part. */
    async refresh(): Promise<void> {
      await changed.until(() => targets.size === 0, LONGEST_WAIT_MS.backlog);
      refreshes++;
      try {
        await refresh();
      } finally {
        refreshes--;
        changed.check();
      }
    },
  };
}

function isSame(a: Target, b: Target): boolean {
  return a.type === b.type && a.world === b.world;
}
