import type { Tag } from './tag.ts';

/** Position of the newest change of each tag. */
export type TagPositions = {
  /** Starts to note changes, or continues. Before the first call no answer is remembered by its tags. */
  watch(): void;
  /** Notes a change before the index shows it. Calls `tags` only if changes are watched. */
  note(position: bigint, tags: () => Iterable<Tag>): void;
  /** Returns whether none of these tags has changed since a position. */
  isUnchanged(tags: Iterable<Tag>, since: bigint): boolean;
};

/** Above this number all tags are forgotten, and earlier answers are no longer valid. */
const MAX_TAGS = 200_000;
/** Number of changes that are noted without a call of `watch`. */
const MAX_UNASKED = 1_000;

/** Creates positions that note nothing before the first `watch`. The limits bound their memory. */
export function createTagPositions(maxTags = MAX_TAGS, maxUnasked = MAX_UNASKED): TagPositions {
  const newest = new Map<Tag, bigint>();
  let latest = 0n;
  /** Changes up to here were not noted; undefined: no change is noted. */
  let unknown: bigint | undefined;
  /** Changes since the last `watch`. They are limited, because an import of a million rows needs no tags. */
  let unasked = 0;
  return {
    watch() {
      unasked = 0;
      // The index may not show the latest change yet.
      unknown ??= latest;
    },
    note(position, tags) {
      latest = position;
      if (unknown === undefined) return;
      if (++unasked > maxUnasked) {
        newest.clear();
        unknown = undefined;
        return;
      }
      for (const tag of tags()) newest.set(tag, position);
      if (newest.size <= maxTags) return;
      newest.clear();
      unknown = position;
    },
    isUnchanged(tags, since) {
      unasked = 0;
      if (unknown === undefined || since < unknown) return false;
      for (const tag of tags) if ((newest.get(tag) ?? 0n) > since) return false;
      return true;
    },
  };
}
