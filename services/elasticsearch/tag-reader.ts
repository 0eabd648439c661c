import { laterPosition } from '../../shared/event-store/later-position.ts';
import type { ChangedTags, ChangedTagsStore, TagsGlance } from '../../shared/read-index/changed-tags.ts';

export type TagReaderOptions = {
  readonly store: Pick<ChangedTagsStore, 'read' | 'glance'>;
  /** Returns the newest position that searches are known to show. */
  readonly shown: () => bigint;
  /** Largest number of tags. Above it, older changes are forgotten. */
  readonly mostTags?: number;
};

const MOST_TAGS = 200_000;

/** Reads the newest changes of tags that the leader noted. Keeps a copy, and reads only the changes that it lacks. */
export function createTagReader({ store, shown, mostTags = MOST_TAGS }: TagReaderOptions) {
  const newest = new Map<string, bigint>();
  /** Last complete state; undefined if no changes are noted, or if some of them cannot be read. */
  let known: ChangedTags | undefined;
  /** Term of `newest`, which has all changes after `since` and up to `upTo`. */
  let [term, since, upTo] = ['', 0n, 0n];
  const take = (state: ChangedTags): void => {
    if (term !== state.term || upTo < state.since) {
      newest.clear();
      [term, since, upTo] = [state.term, state.since, state.since];
    }
    for (const { position, tags } of state.changes)
      for (const tag of tags) newest.set(tag, laterPosition(newest.get(tag) ?? 0n, position));
    upTo = laterPosition(upTo, state.upTo);
    if (newest.size <= mostTags) return;
    newest.clear();
    since = upTo;
  };
  const read = async (): Promise<void> => {
    const least = shown();
    const glance = await store.glance();
    const isKnown = known?.term === glance.newest?.term && known?.number === glance.newest?.number;
    const state = isKnown ? known : await store.read();
    const isComplete = state?.set !== undefined && isAsNewAs(state, glance, least);
    if (isComplete && !isKnown) take(state);
    known = isComplete ? state : undefined;
  };
  return {
    /**
     * Reads all changes that were noted before the call. These include each change that a search has shown. Rejects if they cannot be read.
     */
    look: shareLater(read),
    /** Returns the last known term. Returns undefined if it has another epoch, or if changes in this set are not noted. */
    term: (epoch: number, set: string) =>
      known?.set === set && known.epoch === epoch ? known.term : undefined,
    /** Returns whether none of these tags, by their digests, has changed since a position of the term. */
    isUnchanged(digests: Iterable<string>, position: bigint): boolean {
      if (known === undefined || position < since) return false;
      for (const digest of digests) if ((newest.get(digest) ?? 0n) > position) return false;
      return true;
    },
  };
}

/**
 * Returns whether this is not an old state, as after the index of the tags was restored from a snapshot. The tags of a change are noted
 * before searches show it, and before its position is published.
 */
function isAsNewAs({ upTo }: ChangedTags, { announced }: TagsGlance, least: bigint): boolean {
  return announced !== undefined && announced <= upTo && least <= upTo;
}

/** Shares a call of `work` that begins after the caller has asked. */
function shareLater(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    if (next !== undefined) return next;
    next = last.then(() => {
      next = undefined;
      return work();
    });
    last = next.catch(() => {});
    return next;
  };
}
