import { setTimeout as delay } from 'node:timers/promises';
import { followProgress } from '../../projections/follow-progress.ts';
import type { DocumentRole, DocumentRoleOptions } from './document-role.ts';
import { persistently } from './persistently.ts';

const WHOLE_EVERY = 500;

/** The role of a process that may write one day: its account of stale documents forgets what the leader has written. */
export function followDocuments(options: DocumentRoleOptions): DocumentRole {
  const { cluster, stale, log } = options;
  const stopping = new AbortController();
  const follower = followProgress({ store: cluster.progress(log), stale });
  follower.wake();
  const ready = untilWhole(options, stopping.signal);
  const closed = Promise.withResolvers<void>();
  const stop = () => {
    stopping.abort();
    closed.resolve(follower.close());
  };
  return {
    ready,
    writes: false,
    wake: follower.wake,
    visible: async (position) => void (await follower.reached(position)),
    shows: follower.reached,
    written: () => 0,
    stop,
    async close() {
      stop();
      await closed.promise;
    },
    ended: closed.promise,
  };
}

/** The leader may still be making the indices. */
async function untilWhole({ cluster, log, report, isWhole }: DocumentRoleOptions, signal: AbortSignal) {
  if (isWhole) return;
  await persistently(report, signal, cluster.ready);
  while (!(await persistently(report, signal, () => cluster.isWhole(log))) && !signal.aborted) {
    await delay(WHOLE_EVERY, undefined, { signal }).catch(() => {});
  }
}
