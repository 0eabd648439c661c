import { z } from 'zod';
import { TAG_RECEIVERS, type TagReceiver } from '../../delivery/tag-headers.ts';
import type { TaggingOptions } from '../../delivery/tagging.ts';
import { type Setting, wholeNumber, yesOrNo } from './setting.ts';

const NAMES = [...(Object.keys(TAG_RECEIVERS) as TagReceiver[]), 'none'] as const;

/** Settings for caches of answers, in the process and before it. */
export const DELIVERY_SETTINGS = {
  answerCacheBytes: {
    flags: '--answer-cache-bytes <bytes>',
    description:
      'memory for answers that are asked for again, with the embedded index; 0: none are remembered (default: 67108864)',
    schema: wholeNumber(0, 1_099_511_627_776).default(64 * 2 ** 20),
  },
  cacheTags: {
    flags: '--cache-tags <receiver>',
    description: `send the tags of shared answers in the header that this cache reads: ${NAMES.join(', ')} (default: none)`,
    schema: z.enum(NAMES, { error: `must be one of ${NAMES.join(', ')}` }).default('none'),
  },
  cacheTagsBytes: {
    flags: '--cache-tags-bytes <bytes>',
    description:
      'longest header of tags; an answer with more gets coarser ones. Proxies cut lines of 8 KiB (default: 6144)',
    schema: wholeNumber(64, 65_536).default(6_144),
  },
  cacheTagsPlain: {
    flags: '--cache-tags-plain <boolean>',
    description: 'send plain tags as well: the name of a type, and <plural>:<documentId> (default: false)',
    schema: yesOrNo.default(false),
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** undefined: answers get no tags in their headers. */
export function taggingSettings(settings: {
  readonly cacheTags: TagReceiver | 'none';
  readonly cacheTagsBytes: number;
  readonly cacheTagsPlain: boolean;
}): Omit<TaggingOptions, 'key' | 'position' | 'purged'> | undefined {
  const { cacheTags: receiver, cacheTagsBytes: bytes, cacheTagsPlain: plain } = settings;
  return receiver === 'none' ? undefined : { receiver, bytes, plain };
}
