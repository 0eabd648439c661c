import { parentPort, workerData } from 'node:worker_threads';
import type { Database, Statement } from './database.ts';
import { openDatabase } from './open-database.ts';
import { prepared } from './prepared.ts';
import { COMMITTED, FAILED, RUN, type WriteBehindData, type WriteMessage } from './write-behind.ts';

/** Main module of the thread of `openWriteBehind`. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
const { path, options, state, failures } = workerData as WriteBehindData;
const statements: { readonly statement: Statement; readonly values: number }[] = [];
let db: Database | undefined;
/** Number of transactions that were run and are not committed yet. */
let open = 0;
let timer: NodeJS.Timeout | undefined;

/** Transactions that share one commit. A page that several of them change is written only once. */
const TRANSACTIONS_TOGETHER = 8;
/** Milliseconds to wait for more transactions that share one commit. */
const TOGETHER_MS = 50;

function begin(): Database {
  db ??= openDatabase(path, options);
  if (!db.isTransaction) prepared(db, 'BEGIN IMMEDIATE').run();
  return db;
}

function write(message: WriteMessage): void {
  const database = begin();
  for (const { sql, values } of message.statements)
    statements.push({ statement: prepared(database, sql), values });
  const { runs } = message;
  for (let at = 0; at < runs.length; ) {
    const { statement, values } = statements[runs[at] as number] as (typeof statements)[number];
    statement.run(...runs.slice(at + 1, at + 1 + values));
    at += values + 1;
  }
}

function commit(): void {
  clearTimeout(timer);
  if (db?.isTransaction === true) prepared(db, 'COMMIT').run();
}

function advance(what: typeof RUN | typeof COMMITTED, count: number): void {
  Atomics.add(state, what, count);
  Atomics.notify(state, what);
}

/** Runs work. After a failure it runs nothing more, but still counts, so that a waiting caller wakes up and finds the failure. */
function attempt(work: () => void): void {
  try {
    if (Atomics.load(state, FAILED) === 0) work();
  } catch (error) {
    failures.postMessage(error);
    Atomics.store(state, FAILED, 1);
    if (db?.isTransaction === true) db.exec('ROLLBACK');
  }
}

function commitOpen(): void {
  attempt(commit);
  advance(COMMITTED, open);
  open = 0;
}

port.on('message', (message: WriteMessage | 'commit' | 'close') => {
  if (message === 'commit') return commitOpen();
  if (message === 'close') {
    commitOpen();
    db?.close();
    port.close();
    return advance(COMMITTED, 1);
  }
  attempt(() => write(message));
  open++;
  advance(RUN, 1);
  clearTimeout(timer);
  if (open >= TRANSACTIONS_TOGETHER || Atomics.load(state, FAILED) === 1) commitOpen();
  else timer = setTimeout(commitOpen, TOGETHER_MS);
});
