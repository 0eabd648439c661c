import type { Logger } from 'pino';
import { assertNever } from '../../../shared/assert-never.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { adviseOnUnreadable } from '../../../shared/event-store/unreadable.ts';
import type { FleetLog } from '../../main.ts';

/** Says in the log who leads, and which events cannot be applied. */
export function logFleet(logger: Logger): FleetLog {
  return {
    waiting(types, leader) {
      logger.warn(
        { types, leader },
        'waiting: the content types differ from those in force, and another process leads with these: start this one with the same folder, or stop the others',
      );
    },
    space(what, error) {
      if (what === 'full')
        logger.error(
          { err: error },
          'the disk of the content graph is full: reads go on, writes wait for room',
        );
      else logger.info({}, 'the disk of the content graph has room again: writes go on');
    },
    report(what) {
      switch (what.kind) {
        case 'leading':
          logger.info({ epoch: what.epoch }, 'this process leads');
          break;
        case 'lost':
          logger.warn({ epoch: what.epoch }, 'another process has taken over the lead');
          break;
        case 'claiming':
          if (what.from !== undefined)
            logger.warn({ from: what.from }, 'the leader is gone: claiming the lead');
          break;
        case 'unclaimed':
          logger.warn({ err: what.reason }, 'the lead cannot be claimed for now: trying again');
          break;
        case 'halted':
          logger.error(
            placeOf(what.event),
            `applying the log has stopped: ${adviseOnUnreadable(what.event)}`,
          );
          break;
        case 'foreign':
          logger.warn(
            { events: what.events.length, ...placeOf(what.events[0]) },
            'skipping events that other programs wrote into streams of this space: varve parked list names them',
          );
          break;
        case 'unreturned':
          logger.warn({ err: what.reason }, 'the lead could not be given back');
          break;
        default:
          assertNever(what);
      }
    },
  };
}

/** Of the first event. */
function placeOf(event: StoredEvent | undefined): object {
  if (event === undefined) return {};
  const { position, stream, type, unreadable } = event;
  return { position: String(position), stream, type, kind: unreadable?.kind };
}
