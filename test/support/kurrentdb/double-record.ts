/** Record of the double's log: an event in the form in which a KurrentDB server stores it. */
export type LogRecord = {
  /** Position in the transaction log, in bytes as on the server. Commit and prepare position are equal. */
  readonly position: bigint;
  readonly stream: string;
  readonly revision: bigint;
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** Time in units of 100 ns since 1970. */
  readonly created: bigint;
};

export type ProposedEvent = Pick<LogRecord, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;

export type ExpectedState = bigint | 'any' | 'no_stream' | 'stream_exists';

export type WriteResult =
  /** `position` is undefined if the write is a repetition and reads no longer show the event. */
  | { readonly kind: 'written'; readonly revision: bigint; readonly position: bigint | undefined }
  | { readonly kind: 'wrong-expected-version'; readonly current: bigint | undefined }
  | { readonly kind: 'stream-deleted' };
