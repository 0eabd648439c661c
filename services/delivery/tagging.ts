import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type AnswerTags, type CollectedTags, createAnswerTags } from './answer-tags.ts';
import { type Lifetime, type LifetimeFields, purgedHeaders } from './lifetimes.ts';
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
   * to ask each time. `began`: see `Purged`. Absent: nothing is ever purged.
   */
  readonly lifetimes?: (tags: Iterable<Tag> | undefined, began: number) => LifetimeFields | undefined;
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
 * Purges of this process's answers. `isPurging`: every change that an answer does not show is purged after it reaches a cache. `began`: when
 * the answer was begun, in milliseconds of a clock that does not jump. `isRanked`: caches may keep answers ranked by words.
 */
export type Purged = {
  readonly lifetime: Lifetime;
  readonly isPurging: (began: number) => boolean;
  readonly isRanked?: boolean;
};

/** Creates the tagging of answers. `registry`: the content types that the callers see. */
export function createTagging(
  { receiver, bytes, plain, key, purged, position }: TaggingOptions,
  registry: SchemaRegistry,
): Tagging {
  const value = createTagNames({ key, registry, plain }).answers(formOf(receiver, bytes));
  const { header } = TAG_RECEIVERS[receiver];
  const kept = purged && purgedHeaders(receiver, purged.lifetime);
  return {
    header,
    collect: () => createAnswerTags(registry),
    value,
    field: (tags) => [header, value(tags)],
    position,
    ...(purged && {
      lifetimes(tags, began) {
        if (purged.isRanked === false && (tags === undefined || [...tags].some(isWordsTag))) return undefined;
        return purged.isPurging(began) ? kept : undefined;
      },
    }),
  };
}
