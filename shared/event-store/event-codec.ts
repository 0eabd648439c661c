import { addDigest, digestContent, digestedMetadata, matchesDigest, OTHER_CONTENT } from './event-digest.ts';
import { parseStored, readMetadata, storedMetadata, textOf } from './event-metadata.ts';
import type {
  AppendCondition,
  EventMetadata,
  ExpectedRevision,
  NewEvent,
  StoredEvent,
} from './event-store.ts';

/** The only code that converts events to text and back. Encryption of personal data would belong here. */

/** An event ready to be stored: JSON texts, and the digest that the metadata carries. */
export type EncodedEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly digest: string;
};

/** An append, ready to be stored. */
export type Append = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Events of the append: at least one, and no id twice. */
  readonly events: readonly EncodedEvent[];
  /** Condition of the append. Servers that cannot check it ignore it. */
  readonly condition?: AppendCondition | undefined;
};

/** A stored event as text, in the order of the log's columns. */
export type EventColumns = readonly [
  position: bigint,
  stream: string,
  revision: bigint,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** Columns with the event's link in the hash chain, and its damage, if any. */
export type EventRow = readonly [...EventColumns, chain?: string, damage?: string | undefined];

export type EventContent = Pick<StoredEvent, 'type' | 'data' | 'metadata' | 'unreadable'>;

/**
 * Converts a stored event to the shape that readers know, or returns the reason why this is not possible (see shared/events/upcasters.ts).
 */
export type Decode = (stored: EventContent) => EventContent;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Encodes an event. Throws if the id is not a lower-case UUID. Throws if the data is not a JSON value, but has a bigint, undefined or a
 * function.
 */
function encodeEvent(event: NewEvent): EncodedEvent {
  if (!UUID.test(event.id)) throw new TypeError(`event id "${event.id}" is not a UUID in lower case`);
  const data: string | undefined = JSON.stringify(event.data);
  if (data === undefined) throw new TypeError(`the data of a "${event.type}" event is not a JSON value`);
  const metadata = digestedMetadata(event.metadata);
  const { id, type } = event;
  const digest = digestContent({ id, type, data, metadata });
  return { id, type, data, metadata: addDigest(metadata, digest), digest };
}

/**
 * Encodes the events of one append in their current state. Throws like encodeEvent, and if the append has no stream, no event or one id
 * twice.
 */
export function encodeEvents(stream: string, events: readonly NewEvent[]): readonly EncodedEvent[] {
  if (stream === '') throw new TypeError('a stream needs a name');
  if (events.length === 0) throw new TypeError(`an append to ${stream} needs at least one event`);
  const ids = new Set(events.map((event) => event.id));
  if (ids.size < events.length) throw new TypeError(`an append to ${stream} has one event id twice`);
  return events.map(encodeEvent);
}

/** Decodes an event from its row. Never throws: an event that cannot be read is marked `unreadable`. */
export function decodeEvent(row: EventRow, decode: Decode): StoredEvent {
  const [position, stream, revision, id, type, data, metadata, chain, damage] = row;
  const stored = { type, data: parseStored(data), metadata: parseStored(metadata) };
  const location = { id, stream, revision, position, ...(chain !== undefined && { chain }) };
  if (damage === undefined) return decodeContent(location, stored, decode);
  const event = decodeContent(location, stored, (content) => content);
  return { ...event, unreadable: { ...event.unreadable, kind: 'damaged', reason: damage } };
}

/** Content of an event from a driver: parsed JSON, or `notJson`. */
export type StoredContent = { readonly type: string; readonly data: unknown; readonly metadata: unknown };

type EventLocation = Pick<StoredEvent, 'id' | 'stream' | 'revision' | 'position' | 'chain'>;

/** Decodes an event like decodeEvent, for a store whose driver parses the JSON. */
export function decodeContent(location: EventLocation, stored: StoredContent, decode: Decode): StoredEvent {
  const { type, data, metadata, unreadable } = readContent(stored, decode);
  const event = { ...location, type, data, metadata };
  return unreadable === undefined ? event : { ...event, unreadable };
}

/** Placeholder for an event without Varve's metadata. */
const NO_METADATA: EventMetadata = { schemaVersion: 0, at: '', epoch: 0 };

function readContent({ type, data, metadata: stored }: StoredContent, decode: Decode): EventContent {
  const read = readMetadata(stored);
  if (read.kind === 'unreadable') {
    return { type, data: storedMetadata(data), metadata: NO_METADATA, unreadable: read.unreadable };
  }
  const { metadata } = read;
  if (textOf(data) !== undefined) return damaged(type, data, metadata, 'its data is not JSON');
  try {
    return decode({ type, data, metadata });
  } catch (error) {
    return damaged(type, data, metadata, (error as Error).message);
  }
}

function damaged(type: string, data: unknown, metadata: EventMetadata, reason: string): EventContent {
  return { type, data: storedMetadata(data), metadata, unreadable: { kind: 'damaged', reason } };
}

/**
 * Wraps `decode` for a store without other checks: an event whose content does not match its digest is damaged. `text`: the stored text of
 * the data.
 */
export function checkingDigest(id: string, decode: Decode, text: string): Decode {
  return (stored) => {
    if (matchesDigest({ id, ...stored }, text)) return decode(stored);
    const { type, data, metadata } = stored;
    return damaged(type, data, metadata, OTHER_CONTENT);
  };
}

/** Returns the batch size. Throws a RangeError unless it is a positive integer. */
export function checkedBatchSize(batchSize: number): number {
  if (Number.isSafeInteger(batchSize) && batchSize > 0) return batchSize;
  throw new RangeError(`a batch size must be a positive integer, got ${batchSize}`);
}

/** The largest position and revision that a log can store. */
export const MAX_INT64 = 2n ** 63n - 1n;
