import type { FollowStatus } from '../follow/follow-state.ts';
import type { ConditionCheck } from '../operating/conditions.ts';

/** Number of changes that still have to be purged from a cache. */
export type WaitingPurges = { readonly receiver: string; readonly count: number };

/** Numbers of deliveries of webhooks that are not done. */
export type WaitingDeliveries = { readonly waiting: number; readonly parked: number };

/** Returns a check whether deliveries of webhooks are parked. `backlog`: null if another process delivers. */
export function checkDeliveries(backlog: () => WaitingDeliveries | null): ConditionCheck {
  return () => {
    const parked = backlog()?.parked ?? 0;
    if (parked === 0) return undefined;
    const deliveries = parked === 1 ? '1 delivery of a webhook is' : `${parked} deliveries of webhooks are`;
    return { code: 'deliveries-parked', message: `${deliveries} parked` };
  };
}

/** A purge takes milliseconds, and a failed one is repeated after seconds. */
const PURGE_WAITS_MS = 30_000;

/** Returns a check whether changes wait to be purged from a cache. `waiting`: null if another process purges. */
export function checkPurges(
  waiting: () => readonly WaitingPurges[] | null,
  now: () => number = () => performance.now(),
): ConditionCheck {
  let since: number | undefined;
  return () => {
    const late = (waiting() ?? []).filter(({ count }) => count > 0);
    if (late.length === 0) since = undefined;
    else since ??= now();
    if (since === undefined || now() - since < PURGE_WAITS_MS) return undefined;
    const message = late.map(({ receiver, count }) => `${count} changes wait to be purged from ${receiver}`);
    return { code: 'purges-waiting', message: message.join(', ') };
  };
}

/** Returns a check whether the Strapi that this process reads answers. */
export function checkFollower(status: () => FollowStatus): ConditionCheck {
  return () => {
    const { trouble, url } = status();
    if (trouble === null) return undefined;
    return { code: 'strapi-unreachable', message: `Strapi at ${url} does not answer: ${trouble}` };
  };
}
