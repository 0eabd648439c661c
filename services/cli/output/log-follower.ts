import type { Logger } from 'pino';
import { assertNever } from '../../../shared/assert-never.ts';
import type { FollowReport } from '../../follow/follower.ts';

/** Says in the log how it goes with the Strapi that is followed. */
export function logFollower(logger: Logger): (what: FollowReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'following':
        logger.info({}, 'this process follows Strapi');
        break;
      case 'compared': {
        const { seconds, requests, events } = what;
        logger.info({ seconds, requests, events }, 'everything was compared with Strapi');
        break;
      }
      case 'trouble':
        logger.warn(
          { err: what.error, retryInMs: Math.round(what.retryInMs) },
          'Strapi cannot be followed for now: reads continue, trying again',
        );
        break;
      case 'kept':
        logger.error(
          { rows: what.rows },
          'Strapi no longer has a large share of what is stored: nothing is deleted. Start with a higher --follow-deletions if that is meant',
        );
        break;
      case 'refused':
        logger.error(
          { type: what.type, reason: what.error.message },
          'Strapi refuses to answer a type: what is stored of it stays as it is',
        );
        break;
      default:
        assertNever(what);
    }
  };
}
