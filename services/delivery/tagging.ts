import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type AnswerTags, createAnswerTags } from './answer-tags.ts';
import type { CollectedTags } from './collected-tags.ts';
import { type Lifetime, type LifetimeFields, purgedHeaders } from './lifetimes.ts';
import type { NamedRows } from './row-names.ts';
import { isWordsTag, type Tag } from './tag.ts';
import { formOf, TAG_RECEIVERS, type TagReceiver } from './tag-headers.ts';
import { createTagNames } from './tag-names.ts';

/** The name and the value of a header. */
export type TagField = readonly [name: string, value: string];

/** Tags in the headers of answers that caches may share. */
export type Tagging = {
  readonly header: string;
  collect(): AnswerTags;
  /** Returns the value of the header with these tags. undefined: any change may change the answer. */
  value(tags: CollectedTags | undefined): string;
  /** Returns the name and the value of the header with these tags. */
  field(tags: CollectedTags | undefined): TagField;
  /** Returns the position of the index that answers show. */
  position(): bigint;
  /**
   * Returns headers with the time for which a cache may keep a current answer whose plan has these tags. Returns undefined if the cache has
   * to ask each time. Absent: nothing is ever purged.
   */
  readonly lifetimes?: (tags: Iterable<Tag> | undefined) => LifetimeFields | undefined;
};

export type TaggingOptions = {
  readonly receiver: TagReceiver;
  readonly bytes: number;
  /** True: send plain names in addition to the digests. */
  readonly plain: boolean;
  /** See `tagKey`. */
  readonly key: Uint8Array;
  /** Present: changed tags are purged. Absent: caches have to ask each time. */
  readonly purged?: Purged | undefined;
  readonly position: () => bigint;
};

/**
 * Purges of this process's answers. `isPurging`: every change from now on is purged after this process shows it. `isSilent`: the purging
 * process may assume that this one has ended, so caches must not even store an answer. `isRanked`: caches may keep answers ranked by words.
 */
export type Purged = {
  readonly lifetime: Lifetime;
  readonly isPurging: () => boolean;
  readonly isSilent?: () => boolean;
  readonly isRanked?: boolean;
};

const NOT_STORED = Object.freeze({ 'cache-control': 'no-store' });

/** Creates the tagging of answers. `registry`: the content types that the callers see. `index`: the rows of their answers. */
export function createTagging(
  { receiver, bytes, plain, key, purged, position }: TaggingOptions,
  registry: SchemaRegistry,
  index: NamedRows,
): Tagging {
  const value = createTagNames({ key, registry, plain }).answers(formOf(receiver, bytes), index);
  const { header } = TAG_RECEIVERS[receiver];
  const kept = purged && purgedHeaders(receiver, purged.lifetime);
  return {
    header,
    collect: () => createAnswerTags(registry),
    value,
    field: (tags) => [header, value(tags)],
    position,
    ...(purged && {
      lifetimes(tags) {
        if (purged.isSilent?.() === true) return NOT_STORED;
        if (purged.isRanked === false && (tags === undefined || [...tags].some(isWordsTag))) return undefined;
        return purged.isPurging() ? kept : undefined;
      },
    }),
  };
}
