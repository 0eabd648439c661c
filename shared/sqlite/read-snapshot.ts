import { DatabaseSync } from 'node:sqlite';
import type { Database } from './database.ts';

/** A database as it is at one moment; nothing that is written to it later is seen. */
export type ReadSnapshot = { readonly connection: Database; close(): void };

/** Opens a database for reading at this moment, in a process that need not be its writer's. Throws when it is not there. */
export function openReadSnapshot(path: string): ReadSnapshot {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    connection.exec('BEGIN');
    // The moment is that of the first read.
    connection.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    connection.close();
    throw new Error(`cannot read the database ${path}: ${(error as Error).message}`, { cause: error });
  }
  return { connection, close: () => connection.close() };
}
