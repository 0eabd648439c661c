import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { adviseOnUnreadable } from '../../shared/event-store/unreadable.ts';
import { RequestError } from '../../shared/request-error.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Operating } from '../operating/operating.ts';

/** Knows whether this process has stopped applying the log before an event that it cannot read. */
export type Halt = ReturnType<typeof createHalt>;

export type HaltOptions = {
  readonly operating: Pick<Operating, 'metrics' | 'readiness'>;
  /** Called once, when the process stops. */
  readonly stopped: (event: StoredEvent) => void;
};

/** Creates the state of a process that has not stopped applying the log. After it has stopped, it serves the content up to that event. */
export function createHalt({ operating, stopped }: HaltOptions) {
  let found: StoredEvent | undefined;
  operating.metrics?.gauge(METRICS.halted, () => (found === undefined ? 0 : 1));
  return {
    /** The event; undefined while everything can be read. */
    event: () => found,
    /** Records the event before which the process stopped. Only the first one counts. */
    stop(event: StoredEvent): void {
      if (found !== undefined) return;
      found = event;
      operating.readiness.halted(haltMessage(event));
      stopped(event);
    },
    /** Throws RequestError (503) with the reason once the process has stopped. */
    refuseWrites(): void {
      if (found === undefined) return;
      throw new RequestError('process-halted', haltMessage(found), {
        position: String(found.position),
      });
    },
  };
}

function haltMessage(event: StoredEvent): string {
  return `This process has stopped applying the event log and accepts no writes: ${adviseOnUnreadable(event)}`;
}
