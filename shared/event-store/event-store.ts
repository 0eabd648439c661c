/**
 * The port of the event log: the only truth. Adapters: SQLite, KurrentDB. Every adapter passes test/contract/event-store-contract.ts.
 * Revisions count a stream's events from 0n; positions are strictly increasing over the whole log and start above 0n.
 */
export type StoredEvent = {
  /** UUID in lower case, given by the writer. Version 7 (ordered by time) costs a store with an index over ids a third less. */
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
  /** Head of the log's hash chain at this event, in hex digits; only where the store keeps a chain (SQLite). */
  readonly chain?: string;
  /** Present where the program cannot read the event. Stores deliver such events: `data` is as stored, text where it is not JSON. */
  readonly unreadable?: Unreadable;
};

/**
 * Why an event cannot be read; this depends on its bytes alone, so all processes of one version judge alike. Readers skip `foreign`
 * events (see unreadable.ts) and stop at all others.
 * - `foreign`: it lacks Varve's metadata altogether; somebody else wrote it.
 * - `unknown-type`, `newer-version`: a newer version of Varve wrote it.
 * - `damaged`: Varve wrote it, and it is not as it was written.
 */
export type Unreadable = {
  readonly kind: 'foreign' | 'unknown-type' | 'newer-version' | 'damaged';
  /** For people; begins with a small letter. */
  readonly reason: string;
  /** As stored, where the event's `metadata` is a stand-in because this is not metadata of Varve's. */
  readonly metadata?: unknown;
};

export type EventMetadata = {
  /** Version of the event's type (shared/events/event-versions.ts). */
  readonly schemaVersion: number;
  /** ISO 8601 with milliseconds, from the command. */
  readonly at: string;
  /** The lease epoch of the leader that wrote it; 0 while nothing else can write. */
  readonly epoch: number;
  /** Who caused it. Events of earlier releases do not say. */
  readonly actor?: Actor;
  /** The kind of the command that led to it, such as `update`. */
  readonly via?: string;
  /** The id of the HTTP request. */
  readonly correlationId?: string;
  /** The W3C trace that the request belongs to. */
  readonly traceId?: string;
  /** The id of the event that this one follows from. */
  readonly causationId?: string;
  /** The command, where its sender may send it again. */
  readonly command?: CommandIdentity;
  /** Of the event's content, in base64url. The store adds it (event-digest.ts); events of earlier releases have none. */
  readonly digest?: string;
};

/** Who caused an event. Never a secret, never an address of a client. */
export type Actor =
  | { readonly kind: 'token'; readonly id: string; readonly name: string }
  /** A caller without a token, under public rights. */
  | { readonly kind: 'anonymous' }
  /** A caller of a server where no access rights were ever set. */
  | { readonly kind: 'development' }
  /** An import of documents. */
  | { readonly kind: 'import' }
  /** A `varve` command of an operator. */
  | { readonly kind: 'operator' }
  /** A process of Varve by itself; `id` names it. */
  | { readonly kind: 'process'; readonly id: string };

/** What makes a command that is sent again the same command. */
export type CommandIdentity = {
  /** No other command has it. */
  readonly id: string;
  /** Digest of all that was asked for; absent where whoever repeats the command is trusted to repeat it alike. */
  readonly request?: string;
};

export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
};

/** `none`: the stream must not exist. `any`: no check. */
export type ExpectedRevision = bigint | 'none' | 'any';

export type AppendResult =
  /** Of the last of the appended events. */
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: bigint }
  /** Nothing was written: the stream stands at `actual` (undefined = it does not exist). */
  | { readonly kind: 'conflict'; readonly actual: bigint | undefined }
  /** Nothing was written: the stream of the condition stands at another revision. */
  | { readonly kind: 'fenced' };

/** An append with a condition is stored only while `stream` stands at `revision`. */
export type AppendCondition = { readonly stream: string; readonly revision: bigint };

/**
 * Takes events in order of position. `upTo`: the log has been searched for the space's events up to this position, which is that
 * of the last event or behind it. A call may bring no events.
 */
export type EventHandler = (events: readonly StoredEvent[], upTo: bigint) => Promise<void>;

/** Something went wrong that will be tried again: for logs and metrics. */
export type Trouble = {
  /** Such as `append to varve.lease` or `subscription`. */
  readonly operation: string;
  readonly error: Error;
  /** 1 after the first failure. */
  readonly attempt: number;
  readonly retryInMs: number;
};

/** More than the store takes in one append. `limit`: in bytes, where the store says it. */
export class AppendTooLarge extends Error {
  readonly limit: number | undefined;
  constructor(limit: number | undefined, cause: unknown) {
    super(
      limit === undefined
        ? 'the append is larger than the server of the event log takes, whatever its settings'
        : `the event log takes at most ${limit} bytes in one append: raise MaxAppendSize of its server`,
      { cause },
    );
    this.limit = limit;
  }
}

/** The stream was deleted for good where the log is: it can be neither read nor written. */
export class StreamDeleted extends Error {
  constructor(stream: string, cause: unknown) {
    super(`the stream ${stream} was deleted for good in the event log`, { cause });
  }
}

export type Subscription = {
  /** Resolves when no handler runs any more (so a handler must not wait for it). */
  close(): Promise<void>;
  /**
   * Rejects when the handler threw or the log cannot be read: the subscription has stopped. Resolves on close. Someone must
   * watch it: unwatched, a failure ends the process as an unhandled rejection.
   */
  readonly done: Promise<void>;
};

export type ReadAllOptions = {
  readonly batchSize?: number;
  /**
   * Told how far the log has been searched, once the caller has come back for more behind the batches up to there. Only stores
   * whose log is searched record by record tell it.
   */
  readonly searched?: (upTo: bigint) => void;
};

export type SubscribeOptions = {
  readonly batchSize?: number;
  /** Hands out this stream's events alone; `upTo` moves with all others too, which are not decoded. Default: every stream's. */
  readonly stream?: string;
};

/** An event that is not as it was written, or not where it was written. */
export type Damage = Pick<StoredEvent, 'position' | 'stream' | 'revision'> & {
  /** For people; begins with a small letter. */
  readonly reason: string;
};

/** The hash chain over all events of a log, whatever their space. */
export type HashChain = {
  /** The last event's position and link, which stands for the whole history; undefined for an empty log. */
  head(): Promise<ChainHead | undefined>;
  /** The link of the event at a position; undefined when there is none. */
  at(position: bigint): Promise<string | undefined>;
};

export type ChainHead = { readonly position: bigint; readonly chain: string };

export type EventStore = {
  /**
   * Appends all events or none, durably (survives kill -9 and power loss once resolved). Appending again events whose ids are
   * already in that stream resolves `appended` with the first append's result and writes nothing, whatever is expected now.
   * The order of checks is: ids that are stored already, then the condition, then the expected revision.
   * Rejects when there is no event, an id is no lower-case UUID, or the data is no JSON value; with AppendTooLarge when the store
   * takes no append of this size; with StreamDeleted.
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    condition?: AppendCondition,
  ): Promise<AppendResult>;
  /** Whether this store checks conditions. A store that does not ignores them, and never answers `fenced`. */
  checksConditions(): Promise<boolean>;
  /**
   * A stream's events from `fromRevision` (inclusive, default 0n) on. A stream that does not exist is empty. Rejects with StreamDeleted.
   */
  readStream(stream: string, fromRevision?: bigint): AsyncIterable<StoredEvent>;
  /** All events with position > `after`, in order of position, in batches. */
  readAll(after: bigint, options?: ReadAllOptions): AsyncIterable<readonly StoredEvent[]>;
  /**
   * Position of the last event, 0n when empty: that or one behind it. The `upTo` of every subscriber reaches it within a second.
   */
  lastPosition(): Promise<bigint>;
  /**
   * Calls `handle` with every event after `after`: first what is stored, then what is appended, in order, each once, in
   * batches of at most `batchSize`; the next call waits for the last one's promise (back-pressure).
   */
  subscribe(after: bigint, handle: EventHandler, options?: SubscribeOptions): Subscription;
  /** Absent where the store keeps none (KurrentDB). */
  readonly chain?: HashChain;
  /** Reads the whole log, other spaces' events too where there is a hash chain over them, and finds what is damaged, in order. */
  findDamage(): AsyncIterable<Damage>;
  /**
   * Where the log is on a server: looks whether it can be used. Resolves to what an operator should know; rejects with a sentence
   * when it cannot.
   */
  check?(): Promise<readonly string[]>;
  /** Finishes the appends made so far, stops the subscriptions (as their `close` does) and lets the log go. */
  close(): Promise<void>;
};
