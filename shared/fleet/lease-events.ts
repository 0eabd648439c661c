/**
 * The lease of a space: who leads it, as its log says, in one stream beside the documents'. There are no renewals: a log grows
 * when somebody writes, not while time passes (docs/adr/0010-a-lease-without-renewals.md). The log's order alone decides who
 * leads; clocks only decide how soon somebody else claims.
 */

/** A process claims the lead. Appended at the revision of the lease it saw, so that of several claims one is stored. */
export type LeaderElected = {
  readonly type: 'leader-elected';
  readonly data: {
    /** One more than the last: counts the claims of a space from 1. */
    readonly epoch: number;
    /** Names the process; a restarted one has another. */
    readonly owner: string;
    /** Where others reach it, such as `http://10.0.0.7:1337`. */
    readonly address: string;
  };
};

/** The leader gives the lease back: whoever sees it may claim at once. */
export type LeaderSteppedDown = {
  readonly type: 'leader-stepped-down';
  readonly data: { readonly epoch: number };
};

export type LeaseEvent = LeaderElected | LeaderSteppedDown;

const LEASE_EVENTS: ReadonlySet<string> = new Set<LeaseEvent['type']>([
  'leader-elected',
  'leader-stepped-down',
]);

export function isLeaseEvent({ type }: { readonly type: string }): boolean {
  return LEASE_EVENTS.has(type);
}

/** `<space>.lease` */
export function leaseStream(space: string): string {
  return `${space}.lease`;
}
