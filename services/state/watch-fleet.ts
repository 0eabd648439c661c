import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { adviseOnUnreadable } from '../../shared/event-store/unreadable.ts';
import { valueWithin } from '../../shared/value-within.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ConditionCheck } from '../operating/conditions.ts';

/** A change of the leader takes some two seconds. Writes wait for the next one, and answer 503 after this time. */
const WITHOUT_LEADER_MS = 10_000;

/** Returns a check whether the namespace has a leader. `onlyWrites`: without a leader the process is of no use. */
export function checkLeader(fleet: Pick<Fleet, 'leader'>, onlyWrites: boolean): ConditionCheck {
  let goneAt: number | undefined;
  return () => {
    if (fleet.leader().kind !== 'nobody') {
      goneAt = undefined;
      return undefined;
    }
    goneAt ??= performance.now();
    if (performance.now() - goneAt < WITHOUT_LEADER_MS) return undefined;
    return { code: 'no-leader', message: 'there is no leader', isUnready: onlyWrites };
  };
}

/** A log that takes longer to return its last position counts as unreachable. */
const LOG_TIMEOUT_MS = 2_000;

/** Returns a check whether the log can be read. Its message is the reason, such as a refused password. */
export function checkLog(log: Pick<EventStore, 'lastPosition'>): ConditionCheck {
  return async () => {
    const failure = await valueWithin(
      LOG_TIMEOUT_MS,
      log.lastPosition().then(
        () => 'none',
        (error: Error) => `the event log cannot be used: ${error.message}`,
      ),
    );
    if (failure === 'none') return undefined;
    const message = failure ?? 'the event log does not answer';
    return { code: 'log-unreachable', message, isUnready: true };
  };
}

/** Returns a check whether the process applies the log. `event`: the event before which it has stopped. */
export function checkHalt(event: () => StoredEvent | undefined): ConditionCheck {
  return () => {
    const found = event();
    if (found === undefined) return undefined;
    const { position, stream } = found;
    const message = `this process does not apply the log from position ${position} (${stream}) on: ${adviseOnUnreadable(found)}`;
    return { code: 'halted', message };
  };
}

/** Returns a check whether the disks of the graph and the log have space. `fullDisk`: what the full disk is that of. */
export function checkDisk(fullDisk: () => string | undefined): ConditionCheck {
  return () => {
    const disk = fullDisk();
    return disk === undefined ? undefined : { code: 'disk-full', message: `the disk of ${disk} is full` };
  };
}
