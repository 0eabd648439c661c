import { setTimeout as delay } from 'node:timers/promises';
import type { ChangedTagsStore } from '../../shared/read-index/changed-tags.ts';
import { nameOfSet } from '../../shared/read-index/index-set.ts';
import type { ServedIndices } from '../read-side/read-side.ts';
import type { DocumentRoleOptions } from './document-role.ts';
import type { TagFeed } from './tag-feed.ts';
import { createTagTerm } from './tag-term.ts';

const BROKEN =
  'Elasticsearch has refused a document: until the next rebuild, varve api computes every answer, even before a 304';

export type LeadTagsOptions = DocumentRoleOptions & {
  readonly epoch: number;
  /** Indices to write. Missing live indices are created. In epoch 0 this process is not the leader yet. */
  readonly indices: ServedIndices;
  readonly tagFeed: TagFeed;
  /** Aborted when this process no longer writes documents. */
  readonly signal: AbortSignal;
};

/** Notes the tags of changes while this process writes the documents. */
export type LeadTags = ReturnType<typeof createLeadTags>;

/** Creates the tags of a leader's term. Notes nothing before `open`. */
export function createLeadTags(options: LeadTagsOptions) {
  const { cluster, log, stale, report, epoch, tagFeed, signal } = options;
  const store = cluster.changedTags(log);
  const { position } = options.graph;
  // Epoch 0 belongs to no leader: if there is no other leader, this process ends the last leader's term.
  const isNewest = epoch === 0 ? async () => true : options.isNewest;
  const { begin, written, release, ...term } = createTagTerm({ ...options, store, isNewest, position });
  const isNext = isBeforeTakeover(options);
  let isBroken = false;
  /** Number of calls of `cease` whose documents are not all shown yet. */
  let ceased = 0;
  /** Reports a refused document: its next state has changes whose tags were noted long before. */
  const refused = (): void => {
    if (tagFeed.hasBegun() && !isBroken) report.warn({}, BROKEN);
    isBroken = true;
    // Never rejects: those who wait for tags get a failure.
    void term.cease(liveSetOf(cluster));
  };
  /** Notes changes from now on, if there are tags. Called when searches find the documents of this process. */
  const open = async (): Promise<void> => {
    if (epoch === 0 || ceased > 0 || signal.aborted || !tagFeed.hasBegun()) return;
    tagFeed.connect(term.note);
    const set = liveSetOf(cluster);
    if (set === undefined) return;
    if (stale.parked.all().length > 0) refused();
    else await term.open(set);
  };
  return {
    begin: isNext ? async () => true : begin,
    written: isNext ? untilNoted(store, signal) : written,
    release,
    open,
    refused,
    /**
     * Stops noting changes, because documents will change without an event. Resolves with a function to call when these documents are
     * marked as stale: changes are noted again after `shown` has resolved.
     */
    async cease(shown: () => Promise<unknown>): Promise<() => void> {
      ceased++;
      await term.cease();
      return async () => {
        await shown();
        ceased--;
        await open();
      };
    },
  };
}

/** Returns whether another process is the leader until this one takes over. */
function isBeforeTakeover({ epoch, indices }: LeadTagsOptions): boolean {
  return epoch === 0 && indices.kind === 'next';
}

const LOOK_EVERY_MS = 20;

/**
 * Returns a function that waits until the leader has noted a change. It does not wait if the leader notes no tags. Both processes may write
 * the same indices.
 */
function untilNoted(
  store: Pick<ChangedTagsStore, 'glance'>,
  signal: AbortSignal,
): (position: bigint) => Promise<void> {
  return async (position) => {
    while (!signal.aborted) {
      const { newest } = await store.glance();
      if (newest?.set === undefined || position <= newest.upTo) return;
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };
}

/** Returns the name of the set in use; undefined if this process has not taken over yet, and does not know it. */
function liveSetOf({ indices }: DocumentRoleOptions['cluster']): string | undefined {
  const set = indices.get();
  if (!(set instanceof Promise)) return nameOfSet(set);
  set.catch(() => {});
  return undefined;
}
