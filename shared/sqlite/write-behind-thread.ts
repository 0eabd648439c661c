import { parentPort, workerData } from 'node:worker_threads';
import type { Statement } from './database.ts';
import { openDatabase } from './open-database.ts';
import { prepared } from './prepared.ts';
import { transaction } from './transaction.ts';
import { DONE, FAILED, type SqlParameter, type WriteBehindData, type WriteMessage } from './write-behind.ts';

/** The thread of `openWriteBehind`. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
const { path, options, state, failures } = workerData as WriteBehindData;
const statements: { readonly statement: Statement; readonly values: number }[] = [];
let db: ReturnType<typeof openDatabase> | undefined;

const write = (message: WriteMessage): void => {
  db ??= openDatabase(path, options);
  for (const { sql, values } of message.statements) statements.push({ statement: prepared(db, sql), values });
  const { runs } = message;
  transaction(db, () => {
    for (let at = 0; at < runs.length; ) {
      const { statement, values } = statements[runs[at] as number] as (typeof statements)[number];
      statement.run(...(runs.slice(at + 1, at + 1 + values) as SqlParameter[]));
      at += values + 1;
    }
  });
};

port.on('message', (message: WriteMessage | 'close') => {
  try {
    if (message === 'close') {
      db?.close();
      port.close();
    } else if (Atomics.load(state, FAILED) === 0) write(message);
  } catch (error) {
    failures.postMessage(error);
    Atomics.store(state, FAILED, 1);
  }
  Atomics.add(state, DONE, 1);
  Atomics.notify(state, DONE);
});
