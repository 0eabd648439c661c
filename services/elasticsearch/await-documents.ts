import { watchProgress } from '../../projections/index-writer/watch-progress.ts';
import { type DocumentRole, type DocumentRoleOptions, NO_DOCUMENTS } from './document-role.ts';
import { progressOfLiveSet } from './progress-of-live-set.ts';
import { waitForIndices } from './wait-for-indices.ts';

/** Role of a process that may become the writer. When the leader has written documents, it removes them from its own stale documents. */
export function awaitDocuments(options: DocumentRoleOptions): DocumentRole {
  const { cluster, stale, log, progress, report, isWhole } = options;
  const stopping = new AbortController();
  cluster.useLive();
  const watch = watchProgress({ store: progressOfLiveSet(progress, cluster.indices), stale });
  watch.wake();
  const { signal } = stopping;
  const whole = isWhole ? Promise.resolve() : waitForIndices({ cluster, log, progress, report, signal });
  const ready = whole.then(() => !signal.aborted);
  const closed = Promise.withResolvers<void>();
  const stop = () => {
    stopping.abort();
    closed.resolve(watch.close());
  };
  return {
    ...NO_DOCUMENTS,
    ready,
    wake: watch.wake,
    visible: async (position) => void (await watch.reached(position)),
    shows: watch.reached,
    shown: watch.position,
    stop,
    async close() {
      stop();
      await closed.promise;
    },
    ended: closed.promise,
  };
}
