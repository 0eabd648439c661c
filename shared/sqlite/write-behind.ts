import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { DatabaseOptions } from './open-database.ts';

export type SqlParameter = null | number | bigint | string | Uint8Array;

/** Runs transactions on a database on a thread of their own, in order. */
export type WriteBehind = {
  /** Adds a statement to the current transaction. The number of its values must always be the same. */
  add(sql: string, values: readonly SqlParameter[]): void;
  /**
   * Sends the added statements as one transaction. The thread commits it soon, perhaps together with the next ones. Waits while
   * `TRANSACTIONS_AHEAD` are in flight. After one transaction has failed, no later one is run, and this throws.
   */
  commit(): void;
  /** Blocks the calling thread until all sent transactions are in the file. Throws if they cannot be stored. */
  settle(): void;
  /** Settles, and ends the thread. Further calls do nothing. */
  close(): void;
};

/** Data with which the thread starts. */
export type WriteBehindData = {
  readonly path: string;
  readonly options: DatabaseOptions;
  /** Indexed by RUN, COMMITTED and FAILED: transactions run, transactions in the file, and 1 after one has failed. */
  readonly state: Int32Array<SharedArrayBuffer>;
  /** Port for the error of the failed transaction. */
  readonly failures: MessagePort;
};

/** A transaction. `statements` were not sent before. `runs` is a sequence of the number and the values of every statement to run. */
export type WriteMessage = {
  readonly statements: readonly { readonly sql: string; readonly values: number }[];
  readonly runs: readonly SqlParameter[];
};

export const RUN = 0;
export const COMMITTED = 1;
export const FAILED = 2;

const TRANSACTIONS_AHEAD = 4;
/** Milliseconds after which a disk that does not finish counts as broken. */
const BROKEN_AFTER_MS = 600_000;

/** Starts the thread. The file must already have its schema. */
export function openWriteBehind(path: string, options: DatabaseOptions): WriteBehind {
  const state = new Int32Array(new SharedArrayBuffer(12));
  const { port1: received, port2: failures } = new MessageChannel();
  const data: WriteBehindData = { path, options, state, failures };
  // The thread's file is next to this one, compiled or not.
  const url = new URL(import.meta.url.replace(/write-behind(\.\w+)$/, 'write-behind-thread$1'));
  const thread = new Worker(url, { workerData: data, transferList: [failures] });
  thread.unref();
  received.unref();
  const numbers = new Map<string, number>();
  let statements: { readonly sql: string; readonly values: number }[] = [];
  let runs: SqlParameter[] = [];
  let sent = 0;
  let isOpen = true;

  const until = (what: typeof RUN | typeof COMMITTED, count: number): void => {
    for (let done = Atomics.load(state, what); done < count; done = Atomics.load(state, what)) {
      if (Atomics.wait(state, what, done, BROKEN_AFTER_MS) === 'timed-out')
        throw new Error(`the thread that writes ${path} does not answer`);
    }
    if (Atomics.load(state, FAILED) === 0) return;
    const failure: unknown = receiveMessageOnPort(received)?.message;
    throw new Error(`cannot write ${path}`, { cause: failure });
  };
  return {
    add(sql, values) {
      const known = numbers.get(sql);
      if (known === undefined) statements.push({ sql, values: values.length });
      const number = known ?? numbers.size;
      numbers.set(sql, number);
      runs.push(number, ...values);
    },
    commit() {
      until(RUN, sent + 1 - TRANSACTIONS_AHEAD);
      thread.postMessage({ statements, runs } satisfies WriteMessage);
      sent++;
      statements = [];
      runs = [];
    },
    settle() {
      if (Atomics.load(state, COMMITTED) < sent) thread.postMessage('commit');
      until(COMMITTED, sent);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      thread.postMessage('close');
      received.close();
      until(COMMITTED, sent + 1);
    },
  };
}
