import type { Logger } from 'pino';
import { assertNever } from '../../../shared/assert-never.ts';
import type { FollowReport } from '../../follow/follower.ts';

/** Logs the progress and the problems of following a Strapi. */
export function logFollower(logger: Logger): (what: FollowReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'following':
        return logger.info({}, 'this process follows Strapi');
      case 'compared': {
        const { seconds, requests, events } = what;
        return logger.info({ seconds, requests, events }, 'compared everything with Strapi');
      }
      case 'trouble':
        return logger.warn(
          { err: what.error, retryInMs: Math.round(what.retryInMs) },
          'Strapi cannot be read now: answers to reads continue, trying again',
        );
      case 'kept':
        return logger.error(
          { rows: what.rows },
          'Strapi lacks a large share of the stored rows, so none of them is deleted. To delete them, start with a higher --follow-deletions',
        );
      case 'refused':
        return logger.error(
          { type: what.type, reason: what.error.message },
          'Strapi refuses requests for a content type: its stored content stays unchanged',
        );
      default:
        return assertNever(what);
    }
  };
}
