import type { FastifyRateLimitStoreCtor } from '@fastify/rate-limit';

/** Counts one more request of a key within a window of time, for all processes of a server. */
export type CountRequest = (
  key: string,
  windowMs: number,
) => Promise<{ readonly current: number; readonly ttl: number }>;

/** Creates a store of @fastify/rate-limit that counts with `count`. `name` separates one limit's keys from those of others. */
export function sharedRateStore(count: CountRequest, name: string): FastifyRateLimitStoreCtor {
  function Store() {
    const store = {
      incr(key: string, done: Counted, windowMs: number) {
        count(`${name} ${key}`, windowMs).then((counted) => done(null, counted), done);
      },
      child: () => store,
    };
    return store;
  }
  return Store as unknown as FastifyRateLimitStoreCtor;
}

type Counted = (error: Error | null, result?: { readonly current: number; readonly ttl: number }) => void;
