import { defined } from '../../shared/defined.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { IndexProgress, ProgressStore } from '../../shared/read-index/index-progress.ts';

/** Progress of the documents, which names the history of the log from which they were made. */
export type HistoryProgress = ProgressStore & {
  /** Returns whether the newest progress is that of a history which the log has lost, because an older state of it was restored. */
  isOther(): Promise<boolean>;
};

/**
 * Binds the progress to a log's history. `read` returns nothing while the progress is that of another history. It compares only until both
 * agree: a process notices itself that its log was restored, and starts again.
 */
export function progressInHistory(
  { read, write }: ProgressStore,
  log: Pick<EventStore, 'historyAt' | 'lastPosition'>,
): HistoryProgress {
  let isSame = false;
  const isOfLog = async ({ position, history }: IndexProgress): Promise<boolean> => {
    // Leaders of earlier releases name no history.
    if (history === undefined) return position <= (await log.lastPosition());
    return (await log.historyAt(position)) === history;
  };
  return {
    async read() {
      const found = await read();
      if (found === undefined) return undefined;
      isSame ||= await isOfLog(found);
      return isSame ? found : undefined;
    },
    async write(progress) {
      await write({ ...progress, ...defined({ history: await log.historyAt(progress.position) }) });
    },
    async isOther() {
      const found = await read();
      return found !== undefined && !(await isOfLog(found));
    },
  };
}
