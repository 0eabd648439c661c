import { DatabaseSync } from 'node:sqlite';
import { fileProblem } from '../file-problem.ts';
import type { Database } from './database.ts';

/** State of a database at one moment. Later writes to the database are not visible in it. */
export type ReadSnapshot = { readonly connection: Database; close(): void };

/**
 * Opens the current state of a database for reading. The process need not be the one that writes. Throws if the database does not exist.
 */
export function openReadSnapshot(path: string): ReadSnapshot {
  let connection: Database | undefined;
  try {
    connection = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    connection.exec('BEGIN');
    // The first read fixes the moment of the snapshot.
    connection.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    connection?.close();
    const { message } = error as Error;
    const problem = fileProblem(path);
    const text = problem === undefined ? message : `${message}: ${problem}`;
    throw new Error(`cannot read the database ${path}: ${text}`, { cause: error });
  }
  const opened = connection;
  return { connection: opened, close: () => opened.close() };
}
