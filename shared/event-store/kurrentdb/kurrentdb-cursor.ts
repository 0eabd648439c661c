import type { Connection } from './kurrentdb-connection.ts';
import { isInvalidPosition } from './kurrentdb-failure.ts';
import { lastEventUpTo } from './kurrentdb-pages.ts';

/** Position up to which a reader has handled the log. `from`: where the server begins, if no record begins at `at`. */
export type Cursor = { at: bigint; from?: bigint };

/** Moves a cursor to a position that the server reported, where a record begins. */
export function moveCursor(cursor: Cursor, to: bigint): void {
  cursor.at = to;
  delete cursor.from;
}

/**
 * Lets a reader whose position the server refused begin at the last event before it. Returns false if the failure is another, or the
 * reader began at such an event.
 */
export async function beginsAtRecord(
  connection: Connection,
  cursor: Cursor,
  failure: unknown,
): Promise<boolean> {
  if (!isInvalidPosition(failure) || cursor.from !== undefined) return false;
  cursor.from = await lastEventUpTo(connection, cursor.at);
  return true;
}
