/**
 * Port of the event log, which is the only source of truth. Adapters: SQLite, KurrentDB. Every adapter passes
 * test/contract/event-store-contract.ts. Revisions count a stream's events from 0n. Positions are strictly increasing over the whole log
 * and start above 0n.
 */
export type StoredEvent = {
  /** UUID in lower case, chosen by the writer. Version 7 (ordered by time) costs a store with an index over ids a third less. */
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
  /** Link of the log's hash chain at this event, in hex digits; only if the store keeps a chain (SQLite). */
  readonly chain?: string;
  /** Present if the program cannot read the event. Stores then deliver `data` as it is stored, or its text if it is not JSON. */
  readonly unreadable?: Unreadable;
};

/**
 * Reason why an event cannot be read. It depends only on the event's bytes, so all processes of one version agree. Readers skip `foreign`
 * events (see unreadable.ts) and stop at all others.
 * - `foreign`: it has no metadata of Varve; another program wrote it.
 * - `unknown-type`, `newer-version`: a newer version of Varve wrote it.
 * - `damaged`: Varve wrote it, and it was changed afterwards.
 */
export type Unreadable = {
  readonly kind: 'foreign' | 'unknown-type' | 'newer-version' | 'damaged';
  /** Text for people, which begins with a small letter. */
  readonly reason: string;
  /** Metadata as stored, if it is not Varve's and the event's `metadata` is a placeholder. */
  readonly metadata?: unknown;
};

export type EventMetadata = {
  /** Version of the event's type (shared/events/event-versions.ts). */
  readonly schemaVersion: number;
  /** ISO 8601 with milliseconds, from the command. */
  readonly at: string;
  /** The lease epoch of the leader that wrote the event; 0 if no other process can write. */
  readonly epoch: number;
  /** Author of the event. Events of earlier releases have none. */
  readonly actor?: Actor;
  /** Kind of the command that caused the event, such as `update`. */
  readonly via?: string;
  /** Id of the HTTP request. */
  readonly correlationId?: string;
  /** W3C trace that the request belongs to. */
  readonly traceId?: string;
  /** Id of the event that caused this one. */
  readonly causationId?: string;
  /** Identity of the command, if its sender may repeat it. */
  readonly command?: CommandIdentity;
  /** Random text, if somebody may guess the event's id. */
  readonly salt?: string;
  /** Id of the event that ordered the erasure of this one's content: `digest` is then that of the content before. */
  readonly erased?: string;
  /** Digest of the event's content, in base64url. The store adds it (event-digest.ts). Events of earlier releases have none. */
  readonly digest?: string;
};

/** Author of an event. It never contains a secret or the address of a client. */
export type Actor =
  | { readonly kind: 'token'; readonly id: string; readonly name: string }
  /** A user who is logged in; `id` is the documentId of the user. */
  | { readonly kind: 'user'; readonly id: string }
  /** A user whom an identity provider has logged in; `id` is its `sub`. */
  | { readonly kind: 'identity'; readonly id: string }
  /** A caller without a token, under public rights. */
  | { readonly kind: 'anonymous' }
  /** A caller of a server where no access rights were ever set. */
  | { readonly kind: 'development' }
  /** An import of documents. */
  | { readonly kind: 'import' }
  /** An editor of the Strapi server that is followed. */
  | { readonly kind: 'strapi' }
  /** A `varve` command of an operator. */
  | { readonly kind: 'operator' }
  /** A process of Varve that acts by itself; `id` names it. */
  | { readonly kind: 'process'; readonly id: string };

/** Identity of a command: equal for repetitions of the same command. */
export type CommandIdentity = {
  /** Id that no other command has. */
  readonly id: string;
  /** Digest of the whole request; absent if the sender is trusted to repeat the command unchanged. */
  readonly request?: string;
};

export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
};

/** Revision that the stream must have. `none`: the stream must not exist. `any`: no check. */
export type ExpectedRevision = bigint | 'none' | 'any';

export type AppendResult =
  /**
   * The events were stored; `position` is that of the last one. KurrentDB may store appends together that are made at the same time, and
   * report one position for all of them: it is then later.
   */
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: bigint }
  /** Nothing was written, because the stream is at revision `actual` (undefined = it does not exist). */
  | { readonly kind: 'conflict'; readonly actual: bigint | undefined }
  /** Nothing was written, because the stream of the condition is at another revision. */
  | { readonly kind: 'fenced' };

/** An append of a sequence (see `appendInOrder`), where streams may repeat, or of an `appendTogether`. */
export type OrderedAppend = {
  readonly stream: string;
  readonly expected: bigint | 'none';
  readonly events: readonly NewEvent[];
};

/** Result of `appendTogether`. `position`: that of the last event. `stream`: the stream at another revision, which is `actual`. */
export type TogetherResult =
  | { readonly kind: 'appended'; readonly position: bigint }
  | { readonly kind: 'conflict'; readonly stream: string; readonly actual: bigint | undefined }
  | { readonly kind: 'fenced' };

/** Condition of an append: it is stored only while `stream` is at `revision`. */
export type AppendCondition = { readonly stream: string; readonly revision: bigint };

/**
 * Handles events in order of position. `upTo`: the position up to which the log was searched for the namespace's events. It is that of the
 * last event or later. A call may have no events.
 */
export type EventHandler = (events: readonly StoredEvent[], upTo: bigint) => Promise<void>;

/** A failure that will be retried, for logs and metrics. */
export type Trouble = {
  /** Operation that failed, such as `append to varve.lease` or `subscription`. */
  readonly operation: string;
  readonly error: Error;
  /** Number of the attempt: 1 after the first failure. */
  readonly attempt: number;
  readonly retryInMs: number;
};

/** Error for an append that is larger than the store accepts. `limit`: in bytes, if the store reports it. */
export class AppendTooLarge extends Error {
  readonly limit: number | undefined;
  constructor(limit: number | undefined, cause: unknown) {
    super(
      limit === undefined
        ? 'the append is larger than any server of the event log accepts'
        : `the event log accepts at most ${limit} bytes in one append: raise MaxAppendSize of its server`,
      { cause },
    );
    this.limit = limit;
  }
}

/** Error for a stream that was deleted permanently on the log's server. It can be neither read nor written. */
export class StreamDeleted extends Error {
  constructor(stream: string, cause: unknown) {
    super(`the stream ${stream} was deleted for good in the event log`, { cause });
  }
}

/**
 * Error for a log that has another history than the one that was read: an older copy was restored. Whatever this process has applied may be
 * wrong. A process that starts again compares its files with the log, and makes them again.
 */
export class LogRestored extends Error {}

export type Subscription = {
  /** Resolves when no handler runs any more. A handler must not wait for it. */
  close(): Promise<void>;
  /**
   * Rejects when the handler threw or the log cannot be read: the subscription has stopped. Resolves on close. A caller must handle it:
   * otherwise a failure ends the process as an unhandled rejection.
   */
  readonly done: Promise<void>;
};

export type ReadAllOptions = {
  readonly batchSize?: number;
  /**
   * Called with the position up to which the log was searched, after the caller has asked for more. Only stores that search record by
   * record call it.
   */
  readonly searched?: (upTo: bigint) => void;
};

export type SubscribeOptions = {
  readonly batchSize?: number;
  /**
   * Delivers only events of this stream. `upTo` also advances past the events of other streams, which are not decoded. Default: events of
   * every stream.
   */
  readonly stream?: string;
};

/** An event whose content or position is not the one with which it was written. */
export type Damage = Pick<StoredEvent, 'position' | 'stream' | 'revision'> & {
  /** Text for people, which begins with a small letter. */
  readonly reason: string;
};

/** Hash chain over all events of a log, in all namespaces, whose contents can be erased. */
export type HashChain = {
  /** Returns position and link of the last event, which covers the whole history; undefined for an empty log. */
  head(): Promise<ChainHead | undefined>;
  /**
   * Replaces the content of stored events, in one transaction. Afterwards no part of the file has the earlier content. Each event keeps its
   * link, so the chain and every earlier head stay valid. An event that was replaced before stays as it is. Rejects if an event is missing,
   * or if another process reads the file for so long that the earlier content is still in it: call it again then.
   */
  redact(redactions: readonly Redaction[]): Promise<void>;
};

/** New content of a stored event. `metadata` names the order of the erasure and has no digest: the event keeps its own. */
export type Redaction = Pick<StoredEvent, 'stream' | 'revision'> & {
  readonly id: string;
  readonly data: object;
  readonly metadata: EventMetadata & { readonly erased: string };
};

export type ChainHead = { readonly position: bigint; readonly chain: string };

export type EventStore = {
  /**
   * Appends all events or none, durably: they survive kill -9 and power loss once this resolves. If events with these ids are already in
   * that stream, it resolves `appended` with the first result and writes nothing, whatever the expected revision. The order of checks is:
   * stored ids, the condition, the expected revision. Rejects if there are no events, an id is not a lower-case UUID, or the data is not a
   * JSON value. Rejects with AppendTooLarge if the store does not accept this size, and with StreamDeleted.
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    condition?: AppendCondition,
  ): Promise<AppendResult>;
  /**
   * Appends so that the log has the events in the order of the list; each append like `append`. Nobody else may write to these streams at
   * the same time. Resolves to the results, at least up to the first append that is not stored. If it rejects, or an append is not stored,
   * some later ones may be stored nevertheless.
   */
  appendInOrder(
    appends: readonly OrderedAppend[],
    condition?: AppendCondition,
  ): Promise<readonly AppendResult[]>;
  /**
   * Appends to several streams, to each once: all events or none, in the order of the list; each append like `append`. SQLite delivers the
   * events to subscribers in one call if they have one command in their metadata. Only a store that checks conditions can do it. Others
   * reject.
   */
  appendTogether(appends: readonly OrderedAppend[], condition?: AppendCondition): Promise<TogetherResult>;
  /** Returns whether this store checks conditions. A store that does not check them ignores them, and never returns `fenced`. */
  checksConditions(): Promise<boolean>;
  /**
   * Reads a stream's events from `fromRevision` (inclusive, default 0n) to the end. A stream that does not exist is empty. Rejects with
   * StreamDeleted.
   */
  readStream(stream: string, fromRevision?: bigint): AsyncIterable<StoredEvent>;
  /** Reads all events with position > `after`, in order of position, in batches. */
  readAll(after: bigint, options?: ReadAllOptions): AsyncIterable<readonly StoredEvent[]>;
  /**
   * Returns the position of the last event or a later one; 0n for an empty log. The `upTo` of every subscriber reaches it within a second.
   */
  lastPosition(): Promise<bigint>;
  /**
   * Returns a name of the log's history up to the event at a position: its link in the hash chain, or the event's id. Another history has
   * another name there. Undefined if no event begins there.
   */
  historyAt(position: bigint): Promise<string | undefined>;
  /**
   * Calls `handle` with every event after `after`: first stored events, then new ones. They come in order, each once, in batches of at most
   * `batchSize`. SQLite does not split the events of one command, so a batch may be larger by the rest of a command. KurrentDB may split
   * them. The next call waits for the promise of the previous one (backpressure).
   */
  subscribe(after: bigint, handle: EventHandler, options?: SubscribeOptions): Subscription;
  /** Absent if the store keeps no chain (KurrentDB). */
  readonly chain?: HashChain;
  /** Reads the whole log and reports damaged events in order. A store with a hash chain also reads events of other namespaces. */
  findDamage(): AsyncIterable<Damage>;
  /**
   * Checks whether the log's server can be used. Resolves to messages for operators. Rejects with a message if the server cannot be used.
   */
  check?(): Promise<readonly string[]>;
  /** Finishes pending appends, stops the subscriptions (like their `close`) and closes the log. */
  close(): Promise<void>;
};
