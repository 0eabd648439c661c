import { isUtf8 } from 'node:buffer';
import type { ReadResp } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import { checkingDigest, type Decode, decodeContent } from '../event-codec.ts';
import { notJson, parseStored } from '../event-metadata.ts';
import type { StoredEvent } from '../event-store.ts';
import { reportedNumber, storedNumber } from './kurrentdb-numbers.ts';

/** An event as KurrentDB returns it, from streams and `$all`. Its content is parsed only when a caller gets the event. */
export type Recorded = {
  readonly id: string;
  readonly streamId: string;
  readonly revision: bigint;
  /**
   * Position in the server's transaction log, which is the commit position. It equals the prepare position for every record outside of
   * explicit transactions, which only clients older than this protocol could write.
   */
  readonly position: bigint | undefined;
  readonly type: string;
  /** True if the writer declared the data as JSON. */
  readonly isJson: boolean;
  readonly data: Buffer;
  readonly metadata: Buffer;
};

export type RecordMessage = ReadResp.ReadEvent.RecordedEvent;

/**
 * Converts the message of a record. Its id is a string, because every read requests that. Throws if the revision is a number that no event
 * can have.
 */
export function recordedOf(record: RecordMessage): Recorded {
  const names = record.getMetadataMap();
  const streamId = streamOf(record);
  return {
    id: record.getId()?.getString() ?? '',
    streamId,
    revision: storedNumber(record.getStreamRevision(), 'revision', streamId),
    position: reportedNumber(record.getCommitPosition()),
    type: names.get('type') ?? '',
    isJson: names.get('content-type') === 'application/json',
    data: viewOf(record.getData_asU8()),
    metadata: viewOf(record.getCustomMetadata_asU8()),
  };
}

/** Returns the name of a record's stream. */
export function streamOf(record: RecordMessage): string {
  const name = record.getStreamIdentifier()?.getStreamName_asU8();
  return name === undefined ? '' : viewOf(name).toString();
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Decodes a record. Never throws because of its content: an event that is not Varve's, or cannot be read, is marked `unreadable`. */
export function toStoredEvent(recorded: Recorded, decode: Decode): StoredEvent {
  const { id, streamId: stream, revision, type, metadata } = recorded;
  const location = { id, stream, revision, position: positionOfEvent(recorded) };
  const data = textOf(recorded.data);
  const stored = {
    type,
    data: recorded.isJson ? parseStored(data) : notJson(data),
    metadata: metadata.length === 0 ? undefined : parseStored(textOf(metadata)),
  };
  return decodeContent(location, stored, checkingDigest(id, decode, data));
}

function textOf(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'base64');
}

/** Returns an event's position. Throws if the server omits it, as EventStoreDB before 22.10 does in stream reads. */
export function positionOfEvent({
  position,
  streamId,
  revision,
}: Pick<Recorded, 'position' | 'streamId' | 'revision'>): bigint {
  if (position !== undefined) return position;
  throw new Error(`the server returns no position for revision ${revision} of ${streamId}: it is too old`);
}
