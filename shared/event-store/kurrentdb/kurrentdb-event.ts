import { isUtf8 } from 'node:buffer';
import type { ResolvedEvent } from '@kurrent/kurrentdb-client';
import { checkingDigest, type Decode, decodeContent, MAX_INT64 } from '../event-codec.ts';
import { notJson } from '../event-metadata.ts';
import type { StoredEvent } from '../event-store.ts';

/** An event as KurrentDB returns it, from streams and `$all`. */
export type Recorded = NonNullable<ResolvedEvent['event']> & {
  readonly position?: { readonly commit: bigint };
};

/** Decodes a record. Never throws because of its content: an event that is not Varve's, or cannot be read, is marked `unreadable`. */
export function toStoredEvent(recorded: Recorded, decode: Decode): StoredEvent {
  const { id, streamId: stream, revision, type, data, metadata } = recorded;
  const location = { id, stream, revision, position: positionOfEvent(recorded) };
  return decodeContent(
    location,
    { type, data: jsonOf(data), metadata: jsonOf(metadata) },
    checkingDigest(id, decode),
  );
}

/** Returns parsed JSON. The client returns bytes if the content is not JSON. */
function jsonOf(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return notJson(Buffer.from(value).toString(isUtf8(value) ? 'utf8' : 'base64'));
}

/**
 * Returns the position in the server's transaction log, which is the commit position. It equals the prepare position for every record
 * outside of explicit transactions, which only clients older than this protocol could write. Throws if the server omits it, as EventStoreDB
 * before 22.10 does in stream reads.
 */
export function positionOfEvent({ position, streamId, revision }: Recorded): bigint {
  if (position !== undefined && position.commit <= MAX_INT64) return position.commit;
  throw new Error(`the server returns no position for revision ${revision} of ${streamId}: it is too old`);
}
