import type { Connection } from './kurrentdb-connection.ts';
import { isInvalidPosition } from './kurrentdb-failure.ts';
import { lastEventUpTo, readRecordAt } from './kurrentdb-pages.ts';

/**
 * Position up to which a reader has handled the log. `isBetween`: the server says that no record begins there. `from`: where the server
 * begins instead.
 */
export type Cursor = { at: bigint; isBetween?: boolean; from?: bigint };

/** Moves a cursor to a position that the server reported, where a record begins. */
export function moveCursor(cursor: Cursor, to: bigint): void {
  cursor.at = to;
  delete cursor.isBetween;
  delete cursor.from;
}

/** Returns where a reader begins: at its position, or at a record near it. May reject like any read; then it can be called again. */
export async function startOfCall(connection: Connection, cursor: Cursor): Promise<bigint> {
  if (cursor.isBetween === true) cursor.from ??= await recordNear(connection, cursor.at);
  return cursor.from ?? cursor.at;
}

/**
 * Returns the position after which the server can begin. A checkpoint names the record after the searched ones, which is usually another
 * application's.
 */
export async function recordNear(connection: Connection, at: bigint): Promise<bigint> {
  const next = await readRecordAt(connection, at + 1n);
  const isOthers = next !== undefined && !next.streamId.startsWith(connection.prefix);
  return isOthers ? at + 1n : lastEventUpTo(connection, at);
}

/**
 * Records that the server refused the position of a reader, which then begins at the last event before it. Returns false if the failure is
 * another, or the reader began at such an event.
 */
export function beginsAtRecord(cursor: Cursor, failure: unknown): boolean {
  if (!isInvalidPosition(failure) || cursor.isBetween === true) return false;
  cursor.isBetween = true;
  return true;
}
