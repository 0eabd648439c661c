import { freeBytes } from '../../shared/free-disk.ts';
import { isSnapshotDue, LEAST_APART } from './snapshot-pace.ts';
import { listSnapshots, removeOtherSnapshots, type SnapshotFolder } from './snapshots.ts';

export type KeepSnapshotsOptions = {
  /** Returns the live graph; undefined if another version of the projector has made it. */
  readonly live: () => LiveGraph | undefined;
  readonly end: () => Promise<bigint>;
  /** Returns the size of the log in bytes up to its end. */
  readonly logBytes: (end: bigint) => number;
  /** Makes a snapshot of the live graph in another process. Resolves to false if it was removed, because it was too large. */
  readonly make: () => Promise<boolean>;
  readonly failed: (error: unknown) => void;
  readonly everyMs?: number;
  readonly leastApart?: number;
};

/** Graph that may have snapshots: its position, its size, and where they are. */
type LiveGraph = {
  readonly position: bigint;
  readonly bytes: () => number;
  readonly where: SnapshotFolder;
};

const LOOK_EVERY_MS = 15_000;

/** Files that a copy of a graph and its compression need, as a multiple of the graph's file. */
export const NEEDED_DISK = 3;

/**
 * Looks now and then whether a snapshot of the live graph is due, and lets another process make it. Writes and reads do nothing for it. Removes the
 * snapshots of other generations and projectors. Returns a function that ends this.
 */
export function keepSnapshots(options: KeepSnapshotsOptions): () => void {
  const { everyMs = LOOK_EVERY_MS, leastApart = LEAST_APART, failed } = options;
  let isBusy = false;
  /** Size of the log from which the next attempt is made. */
  let from = 0;
  const look = async (): Promise<void> => {
    const live = options.live();
    if (live === undefined) return;
    const { position, bytes: graphBytes, where } = live;
    removeOtherSnapshots(where);
    const end = await options.end();
    const logBytes = options.logBytes(end);
    const snapshots = listSnapshots(where);
    const place = { position, end, logBytes, snapshots, graphBytes, leastApart };
    if (logBytes < from || !isSnapshotDue(place)) return;
    if (freeBytes(where.folder) < graphBytes() * NEEDED_DISK) return;
    // After a failure, a new attempt would fail too.
    from = logBytes + leastApart;
    if (await options.make()) from = 0;
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    // Never rejects: every error is reported.
    void look()
      .catch(failed)
      .finally(() => {
        isBusy = false;
      });
  }, everyMs).unref();
  return () => clearInterval(timer);
}
