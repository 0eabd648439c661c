import { parentPort, workerData } from 'node:worker_threads';
import { type Append, commitAppends } from './commit-appends.ts';
import type { CommitAnswer } from './log-writer.ts';
import { openLog } from './open-log.ts';

/** The thread of `createThreadedLogWriter`: answers each list of appends with its commit. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
const db = openLog(String(workerData));

const commit = (appends: readonly Append[]): CommitAnswer => {
  try {
    return { kind: 'committed', commit: commitAppends(db, appends) };
  } catch (error) {
    return { kind: 'failed', error: error as Error };
  }
};

port.on('message', (message: readonly Append[] | 'close') => {
  if (message !== 'close') return port.postMessage(commit(message));
  db.close();
  port.close();
});
