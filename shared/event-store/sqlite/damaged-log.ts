import type { Database } from '../../sqlite/database.ts';
import { isDamaged } from '../../sqlite/failures.ts';

/** Adds to the error of a damaged log which file it is and what to do. Returns any other error as it is. */
export function explainDamage(path: string, error: unknown): unknown {
  if (!isDamaged(error)) return error;
  const { message } = error as Error;
  if (message.endsWith(ADVICE)) return error;
  const found = message.includes(path) ? message : `cannot read the event log ${path}: ${message}`;
  return new Error(`${found}. ${ADVICE}`, { cause: error });
}

const ADVICE =
  'The event log is damaged, and Varve changes nothing of it. Keep the file, restore the last backup to a new data directory with varve restore, and start a server there';

/** Runs a statement of the log's file. An error of a damaged file says what to do. */
export function readingLog<Result>(db: Database, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw explainDamage(db.location() ?? 'in memory', error);
  }
}
