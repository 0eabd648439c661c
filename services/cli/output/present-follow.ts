import type { FollowStatus } from '../../follow/follow-state.ts';
import { presentSeconds } from './present-amounts.ts';

/** Presents how far a server has copied the Strapi that it follows, in lines. */
export function presentFollow(follow: FollowStatus | null): readonly string[] {
  if (follow === null) return [];
  const { url, role, ageSeconds, comparison, isComplete, requests, events, webhooks, pending } = follow;
  if (role === 'standby') return ['', `Follows ${url}: another process is the leader, and reads it`];
  const seen = ageSeconds === null ? 'not seen yet' : `as it was ${presentSeconds(ageSeconds)} ago`;
  const compared =
    comparison === null ? 'never compared' : `compared at ${comparison.at} in ${comparison.seconds} s`;
  return [
    '',
    `Follows ${url}: ${isComplete ? seen : 'the first copy is being made'}, ${compared}`,
    `        ${requests} requests, ${events} events, ${webhooks} webhooks, ${pending} documents to read`,
    ...(follow.trouble === null ? [] : [`        it does not answer now: ${follow.trouble}`]),
    ...(follow.kept === 0
      ? []
      : [
          `        ${follow.kept} rows that Strapi no longer has are kept, since they are too many: see --follow-deletions`,
        ]),
    ...Object.entries(follow.refused).map(([type, reason]) => `        ${type} is not followed: ${reason}`),
    ...follow.stuck.map((name) => `        ${name} cannot be stored as Strapi has it`),
  ];
}
