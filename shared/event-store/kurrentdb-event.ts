import { type EventData, jsonEvent, type ResolvedEvent } from '@kurrent/kurrentdb-client';
import {
  type Decode,
  decodeContent,
  type EncodedEvent,
  type EventContent,
  MAX_INT64,
} from './event-codec.ts';
import type { EventMetadata, StoredEvent } from './event-store.ts';

/** What KurrentDB returns for an event, from streams and `$all` alike. */
export type Recorded = NonNullable<ResolvedEvent['event']> & {
  readonly position?: { readonly commit: bigint };
};

/** KurrentDB's names, which its projections and its user interface follow. */
const CORRELATION = '$correlationId';
const CAUSATION = '$causationId';

/** The event as the client takes it: JSON data, and the metadata as KurrentDB's custom metadata. */
export const toEventData = (event: EncodedEvent): EventData => {
  const { correlationId, causationId, ...metadata } = JSON.parse(event.metadata) as EventMetadata;
  return jsonEvent({
    id: event.id,
    type: event.type,
    data: JSON.parse(event.data),
    metadata: {
      ...metadata,
      ...(correlationId === undefined ? {} : { [CORRELATION]: correlationId }),
      ...(causationId === undefined ? {} : { [CAUSATION]: causationId }),
    },
  });
};

/** Throws an error that names the event when it is no event of Varve's or `decode` refuses it. */
export const toStoredEvent = (recorded: Recorded, decode: Decode): StoredEvent => {
  const { id, streamId: stream, revision } = recorded;
  return decodeContent(
    { id, stream, revision, position: positionOf(recorded) },
    () => contentOf(recorded),
    decode,
  );
};

const contentOf = ({ isJson, type, data, metadata }: Recorded): EventContent => {
  if (!isJson || typeof metadata !== 'object' || metadata === null || metadata instanceof Uint8Array) {
    throw new Error('its data or metadata is not JSON');
  }
  const {
    [CORRELATION]: correlationId,
    [CAUSATION]: causationId,
    ...others
  } = metadata as Record<string, unknown>;
  const given = {
    ...others,
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(causationId === undefined ? {} : { causationId }),
  };
  return { type, data, metadata: given as EventMetadata };
};

/**
 * The place in the server's transaction log: the commit position, which is the prepare position too for everything that is
 * not written in an explicit transaction (only clients older than this protocol could). Throws when the server leaves it
 * out, as EventStoreDB before 22.10 does in stream reads.
 */
export const positionOf = ({ position, streamId, revision }: Recorded): bigint => {
  if (position !== undefined && position.commit <= MAX_INT64) return position.commit;
  throw new Error(`the server gives no position for revision ${revision} of ${streamId}: it is too old`);
};

/** Events of the server itself in the space's own streams, such as the tombstone of a deleted one. */
export const isSystemEvent = ({ type }: Recorded): boolean => type.startsWith('$');
