import { errors } from '@elastic/elasticsearch';
import type { ChangedTags, ChangedTagsStore } from '../../shared/read-index/changed-tags.ts';

/** Changed tags in memory. Tests can cause failures and take snapshots. */
export type MemoryChangedTags = ChangedTagsStore & {
  /** Position that the leader has announced. */
  announced: bigint | undefined;
  /** Makes the next request to replace a state reject, before or after it took effect. */
  fail(when: 'before' | 'after'): void;
  /** Makes requests wait until the promise resolves. */
  hold(until: Promise<void>): void;
  /** Removes the state, as if the index were deleted. */
  remove(): void;
  /** Takes a snapshot of the index. Returns a function that restores it. */
  snapshot(): () => void;
};

export function createMemoryChangedTags(): MemoryChangedTags {
  let state: ChangedTags | undefined;
  // This store never reuses a number, although a new index could.
  let sequence = 0;
  let failing: 'before' | 'after' | undefined;
  let waiting = Promise.resolve();
  const fails = (when: 'before' | 'after'): void => {
    if (failing !== when) return;
    failing = undefined;
    throw new errors.ConnectionError('unreachable');
  };
  const all: MemoryChangedTags = {
    announced: undefined,
    fail(when) {
      failing = when;
    },
    hold(until) {
      waiting = until;
    },
    remove() {
      state = undefined;
    },
    snapshot() {
      const saved = state;
      return () => {
        state = saved;
        sequence += 1;
      };
    },
    async glance() {
      await waiting;
      return {
        newest: state && { term: state.term, number: state.number, set: state.set, upTo: state.upTo },
        announced: all.announced,
      };
    },
    async read() {
      await waiting;
      return state;
    },
    async latest() {
      await waiting;
      return { state, version: state === undefined ? 'absent' : { sequence, primary: 1 } };
    },
    async replace(version, next) {
      await waiting;
      fails('before');
      const isCurrent = version === 'absent' ? state === undefined : version.sequence === sequence;
      if (!isCurrent || (version !== 'absent' && state === undefined)) return undefined;
      state = next;
      sequence += 1;
      fails('after');
      return { sequence, primary: 1 };
    },
  };
  return all;
}
