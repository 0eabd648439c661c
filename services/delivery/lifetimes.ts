import { assertNever } from '../../shared/assert-never.ts';
import type { TagReceiver } from './tag-headers.ts';

const YEAR_S = 31_536_000;

/** Seconds in which a cache may serve an answer that is no longer up to date. */
export type Lifetime = {
  /** Serve it once more while they ask for a new one. */
  readonly staleWhileRevalidate: number;
  /** Serve it while the server fails. */
  readonly staleIfError: number;
};

/** Headers that say how long caches may keep an answer, by name. There are few such objects, which are not changed. */
export type LifetimeFields = Readonly<Record<string, string>>;

/** Caches that say in their documentation that they obey these. Others would ignore them without a word. */
const OBEYED = {
  staleWhileRevalidate: ['varnish', 'cloudfront', 'fastly', 'cloudflare', 'netlify', 'rfc9875'],
  staleIfError: ['cloudfront', 'fastly', 'cloudflare', 'rfc9875'],
} as const satisfies Readonly<Record<keyof Lifetime, readonly TagReceiver[]>>;

/** The receivers of tags that obey a rule for answers that are no longer up to date. */
export function receiversObeying(rule: keyof Lifetime): readonly TagReceiver[] {
  return OBEYED[rule];
}

/**
 * Headers of an answer that a cache keeps until its tags are purged, in addition to those of every answer or in their place. Each cache
 * reads a field of its own. Browsers, which nobody purges, ask each time.
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
      // One field for all: who must revalidate serves nothing stale.
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
