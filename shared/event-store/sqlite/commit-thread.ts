import { parentPort, workerData } from 'node:worker_threads';
import { LogReplaced, refuseOtherFile } from './log-identity.ts';
import { type CommitAnswer, commitToFile, type LogCommitRequest } from './log-writer.ts';
import { openLog } from './open-log.ts';

/** Main module of the thread of `createThreadedLogWriter`. It answers each list of appends with its commit. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
const path = String(workerData);
const db = openLog(path);
let isChecked = false;

function commit(request: LogCommitRequest): CommitAnswer {
  try {
    // The file may have been replaced before this thread opened it.
    if (!isChecked) refuseOtherFile(path, request.known.file);
    isChecked = true;
    return { kind: 'committed', commit: commitToFile(path, db, request) };
  } catch (error) {
    if (error instanceof LogReplaced) return { kind: 'replaced', message: error.message };
    return { kind: 'failed', error: error as Error };
  }
}

port.on('message', (message: LogCommitRequest | 'close') => {
  if (message !== 'close') return port.postMessage(commit(message));
  db.close();
  port.close();
});
