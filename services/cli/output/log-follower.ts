import type { Logger } from 'pino';
import { assertNever } from '../../../shared/assert-never.ts';
import type { FollowReport } from '../../follow/follower.ts';

/** Says in the log how it goes with the Strapi that is followed. */
export function logFollower(logger: Logger): (what: FollowReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'following':
        return logger.info({}, 'this process follows Strapi');
      case 'compared': {
        const { seconds, requests, events } = what;
        return logger.info({ seconds, requests, events }, 'everything was compared with Strapi');
      }
      case 'trouble':
        return logger.warn(
          { err: what.error, retryInMs: Math.round(what.retryInMs) },
          'Strapi cannot be followed for now: reads continue, trying again',
        );
      case 'kept':
        return logger.error(
          { rows: what.rows },
          'Strapi no longer has a large share of what is stored: nothing is deleted. Start with a higher --follow-deletions if that is meant',
        );
      case 'refused':
        return logger.error(
          { type: what.type, reason: what.error.message },
          'Strapi refuses to answer a type: what is stored of it stays as it is',
        );
      default:
        return assertNever(what);
    }
  };
}
