import { Worker } from 'node:worker_threads';
import type { Database } from '../../sqlite/database.ts';
import type { Append } from '../event-codec.ts';
import { commitAppends, type LogCommit } from './commit-appends.ts';
import { type KnownLog, LogReplaced, refuseOtherFile } from './log-identity.ts';

/** Stores appends durably (see `commitAppends`), in one call at a time. */
export type LogWriter = {
  /** Rejects with LogReplaced, even if the events were already stored in a file that is no longer the log. */
  commit(request: LogCommitRequest): Promise<LogCommit>;
  close(): Promise<void>;
};

/** Creates a writer on the calling thread. A commit needs no message, but everything else waits for the disk. */
export function createLogWriter(path: string, db: Database): LogWriter {
  return {
    commit: async (request) => commitToFile(path, db, request),
    close: async () => {},
  };
}

/**
 * Commits, and checks the file afterwards. If the check succeeds, the events were stored in the right log, whatever happens to the file
 * later.
 */
export function commitToFile(
  path: string,
  db: Database,
  { appends, known, isWhole }: LogCommitRequest,
): LogCommit {
  const commit = commitAppends(db, appends, known.head, isWhole);
  refuseOtherFile(path, known.file);
  return commit;
}

export type LogCommitRequest = {
  readonly appends: readonly Append[];
  readonly known: KnownLog;
  /** True: all appends are stored, or none. */
  readonly isWhole: boolean;
};

export type CommitAnswer =
  | { readonly kind: 'committed'; readonly commit: LogCommit }
  | { readonly kind: 'replaced'; readonly message: string }
  | { readonly kind: 'failed'; readonly error: Error };

type Waiting = { readonly resolve: (commit: LogCommit) => void; readonly reject: (error: Error) => void };

/**
 * Creates a writer on a separate thread with its own connection, so that reads are answered during a commit. The thread starts at the first
 * commit. It keeps the process alive only during a commit.
 */
export function createThreadedLogWriter(path: string): LogWriter {
  let thread: Worker | undefined;
  let waiting: Waiting | undefined;

  const settle = (answer: CommitAnswer) => {
    thread?.unref();
    if (answer.kind === 'committed') waiting?.resolve(answer.commit);
    else if (answer.kind === 'replaced') waiting?.reject(new LogReplaced(answer.message));
    else waiting?.reject(answer.error);
    waiting = undefined;
  };
  const start = (): Worker => {
    // The thread's file is next to this one, compiled or not.
    const worker = new Worker(new URL(import.meta.url.replace(/log-writer(\.\w+)$/, 'commit-thread$1')), {
      workerData: path,
    });
    worker.on('message', settle);
    worker.on('error', (error: Error) => {
      // The next commit gets a new thread.
      thread = undefined;
      settle({ kind: 'failed', error });
    });
    return worker;
  };
  return {
    commit: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        thread ??= start();
        thread.ref();
        thread.postMessage(request);
      }),
    async close() {
      if (thread === undefined) return;
      const ended = new Promise((resolve) => thread?.once('exit', resolve));
      thread.ref();
      thread.postMessage('close');
      await ended;
    },
  };
}
