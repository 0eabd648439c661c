import { RequestError } from '../../shared/request-error.ts';
import { isOutOfSpace } from '../../shared/sqlite/failures.ts';
import type { FleetReport } from '../fleet/fleet.ts';

/** Whether a process that may lead can write at all: its graph's disk, or the log's, may be full. Reads go on meanwhile. */
export type SpaceWatch = {
  /** Takes what a projector says: it waits for room because of an error, or goes on. */
  graphWaits(error: Error | undefined): void;
  /** Takes what the fleet says: the lead cannot be claimed while the log cannot be written. */
  heard(what: FleetReport): void;
  /** Throws RequestError (503) with the reason while the graph waits for room: it could not show what is written. */
  refuseWithoutGraph(): void;
  /** The same, and also while the log has no room for a claim. For writes that nobody takes. */
  refuseWrites(): void;
};

/** `report`: told once of each disk that is full, and once that the graph goes on. */
export function createSpaceWatch(report: (what: 'full' | 'resumed', error?: unknown) => void): SpaceWatch {
  let isGraphFull = false;
  let isLogFull = false;
  const refuse = (isFull: boolean, disk: string): void => {
    if (!isFull) return;
    throw new RequestError(
      'disk-full',
      `Nothing can be written for now: the disk of ${disk} is full. Writes go on as soon as there is room`,
    );
  };
  const refuseWithoutGraph = () => refuse(isGraphFull, 'the content graph');
  return {
    graphWaits(error) {
      isGraphFull = error !== undefined;
      report(isGraphFull ? 'full' : 'resumed', error);
    },
    heard(what) {
      if (what.kind === 'unclaimed') isLogFull = isOutOfSpace(what.reason);
      if (what.kind === 'leading') isLogFull = false;
    },
    refuseWithoutGraph,
    refuseWrites() {
      refuseWithoutGraph();
      refuse(isLogFull, 'the event log');
    },
  };
}
