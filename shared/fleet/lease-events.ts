/**
 * Events of a namespace's lease, in one stream of its log next to the documents' streams. There are no renewals: a log grows with writes,
 * not with time (docs/adr/0010-a-lease-without-renewals.md). Only the log's order decides which process is the leader. Clocks only decide
 * how soon another process claims.
 */

/** A process claims the lease. It appends at the revision of the lease that it has seen, so only one of several claims is stored. */
export type LeaderElected = {
  readonly type: 'leader-elected';
  readonly data: {
    /** Number of the claim in its namespace: one more than the last, from 1 on. */
    readonly epoch: number;
    /** Name of the process. It changes with each restart. */
    readonly owner: string;
    /** Address at which other processes reach it, such as `http://10.0.0.7:1337`. */
    readonly address: string;
  };
};

/** The leader steps down. Another process that sees this may claim at once. */
export type LeaderSteppedDown = {
  readonly type: 'leader-stepped-down';
  readonly data: { readonly epoch: number };
};

/**
 * The leader names the process that takes its place, in one append with LeaderSteppedDown. Other processes leave the lease to that process
 * for some time.
 */
export type SuccessorNamed = {
  readonly type: 'successor-named';
  readonly data: {
    /** Epoch of the leader that steps down. */
    readonly epoch: number;
    /** Name of the process. */
    readonly owner: string;
    /** Address at which other processes will reach it. A process at this address may claim too: it has replaced the named one. */
    readonly address: string;
    /** Milliseconds for which other processes do not claim the lease, unless another process answers at the address, or none. */
    readonly forMs: number;
  };
};

export type LeaseEvent = LeaderElected | LeaderSteppedDown | SuccessorNamed;

const LEASE_EVENTS: ReadonlySet<string> = new Set<LeaseEvent['type']>([
  'leader-elected',
  'leader-stepped-down',
  'successor-named',
]);

/** Returns whether an event is in the lease stream. No row depends on such events. */
export function isLeaseEvent({ type }: { readonly type: string }): boolean {
  return LEASE_EVENTS.has(type);
}

/** Returns `<space>.lease`, the name of the lease stream. */
export function leaseStream(space: string): string {
  return `${space}.lease`;
}
