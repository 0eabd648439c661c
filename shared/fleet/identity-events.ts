/**
 * Identity of a namespace's log, and the processes that use it: one stream next to the documents' streams. Events of
 * this stream are written under no lease (epoch 0). They change no content, no condition depends on the stream, and a
 * log that has only these counts as new (docs/adr/0015-a-log-has-an-identity.md).
 */

/** The log is this one from here on: everything before may be a copy of another's. */
export type LogIdentified = {
  readonly type: 'log-identified';
  readonly data: {
    readonly id: string;
    /** Identity of the log that this one was copied from, where that is known. */
    readonly copyOf?: string;
    /** Head of the hash chain of the log that was imported into this one. */
    readonly history?: { readonly position: string; readonly chain: string } | undefined;
  };
};

/**
 * A process proves to the leader of a term that both use one log: only a reader of this log knows the nonce. Written
 * once for each process and term.
 */
export type ProcessStarted = {
  readonly type: 'process-started';
  readonly data: {
    /** Names the process; a restarted one has another. */
    readonly owner: string;
    /** Event id of the leader's claim. */
    readonly claim: string;
    /** 32 random bytes, base64url. */
    readonly nonce: string;
  };
};

export type IdentityEvent = LogIdentified | ProcessStarted;

const IDENTITY_EVENTS: ReadonlySet<string> = new Set<IdentityEvent['type']>([
  'log-identified',
  'process-started',
]);

/** Returns whether an event is in the identity stream. No row depends on it. */
export function isIdentityEvent({ type }: { readonly type: string }): boolean {
  return IDENTITY_EVENTS.has(type);
}

/** `<space>.identity` */
export function identityStream(space: string): string {
  return `${space}.identity`;
}
