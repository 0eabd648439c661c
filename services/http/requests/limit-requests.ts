import type { RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { defined } from '../../../shared/defined.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { type CountRequest, sharedRateStore } from './shared-rate-store.ts';

export type RequestLimit = Pick<RateLimitPluginOptions, 'allowList' | 'hook' | 'keyGenerator'> & {
  /** Requests a minute with one key; 0: any number. */
  readonly max: number;
  /** Separates the keys of this limit from those of others. */
  readonly name: string;
  /** Counts for all processes of the server. Absent: this process counts its own. */
  readonly count: CountRequest | undefined;
};

// Answers that bypass fastify's reply could not have these headers. For a refusal Retry-After is enough.
const NO_HEADERS = {
  'x-ratelimit-limit': false,
  'x-ratelimit-remaining': false,
  'x-ratelimit-reset': false,
};

/** Refuses requests above the limit with a 429. */
export async function limitRequests(
  app: FastifyInstance,
  { max, name, count, ...options }: RequestLimit,
): Promise<void> {
  if (max === 0) return;
  const { default: rateLimit } = await import('@fastify/rate-limit');
  await app.register(rateLimit, {
    ...options,
    ...defined({ store: count && sharedRateStore(count, name) }),
    max,
    timeWindow: '1 minute',
    addHeadersOnExceeding: NO_HEADERS,
    addHeaders: { ...NO_HEADERS, 'retry-after': true },
    errorResponseBuilder: () =>
      new RequestError('rate-limited', 'Too many requests, please try again later.'),
  });
}

/** Returns the network of an address, by which limits count. An IPv6 caller has a whole /64 network. */
export function networkOf(ip: string): string {
  return ip.includes(':') ? ip.split(':').slice(0, 4).join(':') : ip;
}
