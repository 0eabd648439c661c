import type { EventStore } from '../../shared/event-store/event-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import { isDiskFull } from '../../shared/sqlite/failures.ts';
import type { FleetReport } from '../fleet/lease-terms.ts';

/** Without further writes nobody knows whether the log has space again. */
const REFUSED_FOR_MS = 30_000;

/** Knows whether a process that may become leader has the disk space to write. */
export type DiskWatch = ReturnType<typeof createDiskWatch>;

/**
 * Watches the disks of the graph and of the log. While one of them is full, reads continue. `report`: called once for each full disk, and
 * once when the graph continues.
 */
export function createDiskWatch(report: (what: 'full' | 'resumed', error?: unknown) => void) {
  let isGraphFull = false;
  let isLogFull = false;
  let refusedAt = Number.NEGATIVE_INFINITY;
  const isLogKnownFull = () => isLogFull || performance.now() - refusedAt < REFUSED_FOR_MS;
  const refuse = (isFull: boolean, disk: string): void => {
    if (!isFull) return;
    throw new RequestError(
      'disk-full',
      `Writes are not possible now: the disk of ${disk} is full. Writes continue as soon as there is space`,
    );
  };
  const refuseWithoutGraph = () => refuse(isGraphFull, 'the content graph');
  return {
    /** Handles a report of the projector. With an error the projector waits for disk space; without one it continues. */
    graphWaits(error: Error | undefined): void {
      isGraphFull = error !== undefined;
      report(isGraphFull ? 'full' : 'resumed', error);
    },
    /** Handles a report of the fleet: the lease cannot be claimed while the log cannot be written. */
    heard(what: FleetReport): void {
      if (what.kind === 'unclaimed') isLogFull = isDiskFull(what.reason);
      if (what.kind === 'leading') isLogFull = false;
    },
    /** Returns the log with appends that note whether its disk is full. */
    watchAppends: (log: EventStore): EventStore => ({
      ...log,
      async append(...given) {
        try {
          const result = await log.append(...given);
          refusedAt = Number.NEGATIVE_INFINITY;
          return result;
        } catch (error) {
          if (isDiskFull(error)) refusedAt = performance.now();
          throw error;
        }
      },
    }),
    /** Returns what is on the full disk; undefined if no disk is full. */
    fullDisk: () => (isGraphFull ? 'the content graph' : isLogKnownFull() ? 'the event log' : undefined),
    /** Throws RequestError (503) with the reason while the graph waits for disk space: it could not show new writes. */
    refuseWithoutGraph,
    /** Throws like refuseWithoutGraph, and also while the log has no space for a claim. Used for writes without a leader. */
    refuseWrites(): void {
      refuseWithoutGraph();
      refuse(isLogFull, 'the event log');
    },
  };
}
