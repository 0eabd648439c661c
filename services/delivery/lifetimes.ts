import { assertNever } from '../../shared/assert-never.ts';
import type { TagReceiver } from './tag-headers.ts';

const YEAR_S = 31_536_000;

/** Seconds for which a cache may serve a stale answer. */
export type Lifetime = {
  /** Time for which it may do so while it asks for a new answer. */
  readonly staleWhileRevalidate: number;
  /** Time for which it may do so while the server fails. */
  readonly staleIfError: number;
};

/** Headers that say how long caches may keep an answer, by name. Answers share these objects, so nobody changes them. */
export type LifetimeFields = Readonly<Record<string, string>>;

/** Caches whose documentation says that they obey these rules. Others would silently ignore them. */
const OBEYED = {
  staleWhileRevalidate: ['varnish', 'cloudfront', 'fastly', 'cloudflare', 'netlify', 'rfc9875'],
  staleIfError: ['cloudfront', 'fastly', 'cloudflare', 'rfc9875'],
} as const satisfies Readonly<Record<keyof Lifetime, readonly TagReceiver[]>>;

/** Returns the receivers of tags that obey a rule for stale answers. */
export function receiversObeying(rule: keyof Lifetime): readonly TagReceiver[] {
  return OBEYED[rule];
}

/**
 * Returns the headers of an answer that a cache keeps until its tags are purged. They add to the usual headers of answers, or replace them.
 * Each cache reads another field. Browsers ask each time, because nobody purges them.
 */
export function purgedHeaders(
  receiver: TagReceiver,
  { staleWhileRevalidate, staleIfError }: Lifetime,
): LifetimeFields {
  const stale = [
    ...(staleWhileRevalidate > 0 ? [`stale-while-revalidate=${staleWhileRevalidate}`] : []),
    ...(staleIfError > 0 ? [`stale-if-error=${staleIfError}`] : []),
  ];
  switch (receiver) {
    case 'varnish':
    case 'cloudfront': {
      // Browsers and caches read the same field here. A cache that must revalidate serves nothing stale.
      const rules = stale.length > 0 ? stale : ['must-revalidate'];
      return { 'cache-control': ['public, max-age=0', `s-maxage=${YEAR_S}`, ...rules].join(', ') };
    }
    case 'fastly':
      return { 'surrogate-control': [`max-age=${YEAR_S}`, ...stale].join(', ') };
    case 'cloudflare':
    case 'netlify':
    case 'akamai':
    case 'rfc9875':
      return { 'cdn-cache-control': [`public, max-age=${YEAR_S}`, ...stale].join(', ') };
    default:
      return assertNever(receiver);
  }
}
