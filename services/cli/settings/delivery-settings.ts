import { z } from 'zod';
import { type Lifetime, receiversObeying } from '../../delivery/lifetimes.ts';
import { TAG_RECEIVERS, type TagReceiver } from '../../delivery/tag-headers.ts';
import type { TaggingOptions } from '../../delivery/tagging.ts';
import { choice, type SettingsOf, type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

const NAMES = [...(Object.keys(TAG_RECEIVERS) as TagReceiver[]), 'none'] as const;

/** Settings for caches of answers, in the process and before it. */
export const DELIVERY_SETTINGS = {
  answerCacheBytes: {
    flags: '--answer-cache-bytes <bytes>',
    description:
      'memory in bytes for answers that clients request again, with the embedded index; 0: remember no answers (default: 67108864)',
    schema: wholeNumber(0, 1_099_511_627_776).default(64 * 2 ** 20),
  },
  cacheTags: {
    flags: '--cache-tags <receiver>',
    description: `send the tags of shared answers in the header that this cache reads: ${NAMES.join(', ')} (default: none)`,
    schema: choice(...NAMES).default('none'),
  },
  cacheTagsBytes: {
    flags: '--cache-tags-bytes <bytes>',
    description:
      'maximum size of the header with tags in bytes; an answer with more tags gets coarser ones. Proxies cut lines of 8 KiB (default: 6144)',
    schema: wholeNumber(64, 65_536).default(6_144),
  },
  cacheTagsPlain: {
    flags: '--cache-tags-plain <boolean>',
    description:
      'also send plain tags: the name of the content type, and <plural>:<documentId> (default: false)',
    schema: yesOrNo.default(false),
  },
  cacheToken: {
    flags: '--cache-token <name>',
    description:
      'name of a token whose answers shared caches may store; the token must not see more than callers without a token (default: none)',
    schema: z.string().min(1, 'is empty: pass the name of a token').optional(),
  },
  cacheStaleWhileRevalidate: {
    flags: '--cache-stale-while-revalidate <seconds>',
    description:
      'time in seconds for which a cache with --purge may serve an old answer while it requests a new one (default: 0)',
    schema: wholeNumber(0, 31_536_000).default(0),
  },
  cacheStaleIfError: {
    flags: '--cache-stale-if-error <seconds>',
    description:
      'time in seconds for which a cache with --purge may serve an old answer while Varve fails (default: 0)',
    schema: wholeNumber(0, 31_536_000).default(0),
  },
} as const satisfies SettingsTable;

type Settings = SettingsOf<typeof DELIVERY_SETTINGS>;

/** Returns how answers get tags in their headers; undefined if they get none. */
export function taggingSettings(
  settings: Pick<Settings, 'cacheTags' | 'cacheTagsBytes' | 'cacheTagsPlain'>,
): Omit<TaggingOptions, 'key' | 'position' | 'purged'> | undefined {
  const { cacheTags: receiver, cacheTagsBytes: bytes, cacheTagsPlain: plain } = settings;
  return receiver === 'none' ? undefined : { receiver, bytes, plain };
}

type Stale = 'cacheTags' | 'cacheStaleWhileRevalidate' | 'cacheStaleIfError';
type StaleChoice = Pick<Settings, Stale> & { readonly purge?: readonly unknown[] | undefined };

/** Returns how long caches may serve answers that are no longer up to date. */
export function lifetimeOf({
  cacheStaleWhileRevalidate: staleWhileRevalidate,
  cacheStaleIfError: staleIfError,
}: StaleChoice): Lifetime {
  return { staleWhileRevalidate, staleIfError };
}

const STALE_FLAGS = {
  staleWhileRevalidate: '--cache-stale-while-revalidate (VARVE_CACHE_STALE_WHILE_REVALIDATE)',
  staleIfError: '--cache-stale-if-error (VARVE_CACHE_STALE_IF_ERROR)',
} as const satisfies Readonly<Record<keyof Lifetime, string>>;

/** Returns messages about times for old answers that no cache would obey. */
export function staleProblems(settings: StaleChoice): readonly string[] {
  const lifetime = lifetimeOf(settings);
  return (['staleWhileRevalidate', 'staleIfError'] as const).flatMap((rule) => {
    if (lifetime[rule] === 0) return [];
    const receivers = receiversObeying(rule);
    if (!receivers.some((one) => one === settings.cacheTags))
      return [
        `${STALE_FLAGS[rule]} needs --cache-tags with one of ${receivers.join(', ')}, got ${settings.cacheTags}: omit it, because other caches ignore it`,
      ];
    if (settings.purge !== undefined) return [];
    return [
      `${STALE_FLAGS[rule]} needs --purge: omit it, because without --purge caches ask Varve each time`,
    ];
  });
}
