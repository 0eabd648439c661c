import type { Logger } from 'pino';
import { assertNever } from '../../../shared/assert-never.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { adviseOnUnreadable } from '../../../shared/event-store/unreadable.ts';
import type { FleetLog } from '../../process/process-options.ts';

/** Logs the leader, and events that cannot be applied. */
export function logFleet(logger: Logger): FleetLog {
  return {
    waiting(types, leader) {
      logger.warn(
        { types, leader },
        'waiting: the content types differ from those of the leader. Start this process with the same folder, or stop the other processes',
      );
    },
    space(what, error) {
      if (what === 'full')
        logger.error(
          { err: error },
          'the disk of the content graph is full: reads continue, writes wait for space',
        );
      else logger.info({}, 'the disk of the content graph has space again: writes continue');
    },
    tidied: {
      removed: (indices) => logger.info({ indices }, 'removed indices that no process uses any more'),
      failed: (error) =>
        logger.warn({ reason: (error as Error).message }, 'unused indices cannot be removed: trying again'),
    },
    erasing: (error) =>
      logger.warn({ reason: (error as Error).message }, 'an erasure cannot be carried out now: trying again'),
    report(what) {
      switch (what.kind) {
        case 'leading':
          return logger.info({ epoch: what.epoch }, 'this process is the leader');
        case 'lost':
          return logger.warn({ epoch: what.epoch }, 'another process is the leader now');
        case 'claiming':
          if (what.from === undefined) return;
          return logger.warn({ from: what.from }, 'the leader does not answer any more: claiming the lease');
        case 'unclaimed':
          return logger.warn({ err: what.reason }, 'the lease could not be claimed: trying again');
        case 'halted':
          return logger.error(
            locationOf(what.event),
            `applying the log has stopped: ${adviseOnUnreadable(what.event)}`,
          );
        case 'foreign':
          return logger.warn(
            { events: what.events.length, ...locationOf(what.events[0]) },
            'skipping events that other programs wrote into streams of this namespace: varve parked list shows them',
          );
        case 'unreturned':
          return logger.warn({ err: what.reason }, 'the lease could not be returned');
        default:
          return assertNever(what);
      }
    },
  };
}

/** Returns the position of an event, and what it is, for a log line. */
function locationOf(event: StoredEvent | undefined): object {
  if (event === undefined) return {};
  const { position, stream, type, unreadable } = event;
  return { position: String(position), stream, type, kind: unreadable?.kind };
}
