/**
 * Events that identify a namespace's log and the processes that use it. They are in one stream next to the documents' streams. They are
 * written without a lease (epoch 0), change no content, and no condition depends on their stream. A log that has only such events counts as
 * new (docs/adr/0015-a-log-has-an-identity.md).
 */

/** Gives the log its identity from this event on. Earlier events may be a copy of another log's. */
export type LogIdentified = {
  readonly type: 'log-identified';
  readonly data: {
    readonly id: string;
    /** Identity of the log from which this one was copied, if it is known. */
    readonly copyOf?: string;
    /** Head of the hash chain of the log that was imported into this one. */
    readonly history?: { readonly position: string; readonly chain: string } | undefined;
  };
};

/**
 * Proves to the leader of a term that a process uses the same log: only a reader of this log knows the nonce. It is written once for each
 * process and term.
 */
export type ProcessStarted = {
  readonly type: 'process-started';
  readonly data: {
    /** Name of the process. It changes with each restart. */
    readonly owner: string;
    /** Event id of the leader's claim. */
    readonly claim: string;
    /** 32 random bytes in base64url. */
    readonly nonce: string;
  };
};

export type IdentityEvent = LogIdentified | ProcessStarted;

const IDENTITY_EVENTS: ReadonlySet<string> = new Set<IdentityEvent['type']>([
  'log-identified',
  'process-started',
]);

/** Returns whether an event is in the identity stream. No row depends on such events. */
export function isIdentityEvent({ type }: { readonly type: string }): boolean {
  return IDENTITY_EVENTS.has(type);
}

/** Returns `<space>.identity`, the name of the identity stream. */
export function identityStream(space: string): string {
  return `${space}.identity`;
}
