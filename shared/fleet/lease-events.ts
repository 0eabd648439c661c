/**
 * The lease of a namespace: one stream of its log, next to the documents' streams. There are no renewals: a log grows
 * with writes, not with time (docs/adr/0010-a-lease-without-renewals.md). The log's order alone decides which process
 * is the leader; clocks only decide how soon another process claims.
 */

/**
 * A process claims the lease. It appends at the revision of the lease that it saw, so of several claims one is stored.
 */
export type LeaderElected = {
  readonly type: 'leader-elected';
  readonly data: {
    /** One more than the last: numbers the claims of a namespace from 1. */
    readonly epoch: number;
    /** Names the process; a restarted one has another. */
    readonly owner: string;
    /** Address for the other processes, such as `http://10.0.0.7:1337`. */
    readonly address: string;
  };
};

/** The leader steps down: another process that sees this may claim at once. */
export type LeaderSteppedDown = {
  readonly type: 'leader-stepped-down';
  readonly data: { readonly epoch: number };
};

export type LeaseEvent = LeaderElected | LeaderSteppedDown;

const LEASE_EVENTS: ReadonlySet<string> = new Set<LeaseEvent['type']>([
  'leader-elected',
  'leader-stepped-down',
]);

/** Returns whether an event is in the lease stream. No row depends on it. */
export function isLeaseEvent({ type }: { readonly type: string }): boolean {
  return LEASE_EVENTS.has(type);
}

/** `<space>.lease` */
export function leaseStream(space: string): string {
  return `${space}.lease`;
}
