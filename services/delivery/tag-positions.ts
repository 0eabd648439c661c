import type { Tag } from './tag.ts';

/** Position of the newest change of each tag. */
export type TagPositions = {
  /** From now on changes are noted. Before, nobody remembers an answer by its tags. */
  watch(): void;
  /** A change at this position, before the index shows it. `tags` is called if changes are watched. */
  note(position: bigint, tags: () => Iterable<Tag>): void;
  /** Returns whether none of these has changed since a position. */
  isUnchanged(tags: Iterable<Tag>, since: bigint): boolean;
};

/** With more, all are forgotten, and with them the answers before. */
const MAX_TAGS = 200_000;

export function createTagPositions(maxTags = MAX_TAGS): TagPositions {
  const newest = new Map<Tag, bigint>();
  let latest = 0n;
  /** Changes up to here were not noted; undefined: none is. */
  let unknown: bigint | undefined;
  return {
    watch() {
      // The index may not show the latest change yet.
      unknown ??= latest;
    },
    note(position, tags) {
      latest = position;
      if (unknown === undefined) return;
      for (const tag of tags()) newest.set(tag, position);
      if (newest.size <= maxTags) return;
      newest.clear();
      unknown = position;
    },
    isUnchanged(tags, since) {
      if (unknown === undefined || since < unknown) return false;
      for (const tag of tags) if ((newest.get(tag) ?? 0n) > since) return false;
      return true;
    },
  };
}
