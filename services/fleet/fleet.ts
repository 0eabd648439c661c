import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import { type Lead, type Leader, type Lease, leadOf } from '../../shared/fleet/lease.ts';
import { type Claimant, claimLease, returnLease } from './claim-lease.ts';
import { createClaimPace } from './claim-pace.ts';
import { countsByLease } from './counts-by-lease.ts';
import type { LeaseView } from './lease-view.ts';
import { returnOwnLease } from './require-lease.ts';
import { LEADER_TIMEOUTS, watchLeader } from './watch-leader.ts';

/** Place where the commands of a namespace are carried out, as this process knows it. */
export type LeaderLocation =
  | { readonly kind: 'here'; readonly leader: Leader }
  /** `term` is aborted as soon as another leader is known. */
  | { readonly kind: 'elsewhere'; readonly leader: Leader; readonly term: AbortSignal }
  /** There is no leader, or not yet, or its address is unknown. */
  | { readonly kind: 'nobody' };

/** Part of a process in the fleet of its namespace. */
export type Fleet = {
  leader(): LeaderLocation;
  /** Epoch of this process's lease, if it may accept commands under it; undefined: none. */
  epoch(): number | undefined;
  /** The lease of this process, for writing. */
  lead(): Lead | undefined;
  /** Epoch of the newest claim that this process knows of. */
  newestEpoch(): number;
  /** Returns whether events appended at a position under a lease precede any newer claim. Rejects if the log cannot be read. */
  counts(position: bigint, lead: Lead): Promise<boolean>;
  /** Resolves when the leader may be another one, and after `ms` at the latest. */
  changed(ms: number): Promise<void>;
  /** Accepts no more commands and steps down, if it is the leader. It does not claim again. */
  stepDown(): Promise<void>;
  /** Rejects when the process cannot continue as one that may lead. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/** Dependencies of a fleet on its process. */
export type FleetOptions = {
  readonly claimant: Claimant;
  /** Reads the log with the graph: the graph has applied everything that it shows. */
  readonly view: LeaseView;
  /** Epoch of the newest claim before a position that the graph has applied. */
  readonly epochAt: (position: bigint) => number;
  readonly position: () => bigint;
  /** Resolves when the graph has applied the log up to there. */
  readonly applied: (position: bigint) => Promise<void>;
  /** Work between the claim and the first command; the graph has caught up with the claim. */
  readonly takeOffice: (lead: Lead) => Promise<void>;
  /** False: this process never claims the lease. Default: it does when that is free. */
  readonly mayLead?: boolean;
  /** Resolves when this process may claim the lease; before, it only watches the leader. Default: at once. */
  readonly turn?: Promise<void>;
  /** Another process is the leader, or will be: called when that is known at the start, and when the lease is lost. */
  readonly standBy: () => void;
  readonly report: (what: FleetReport) => void;
};

export type FleetReport =
  | { readonly kind: 'leading'; readonly epoch: number }
  | { readonly kind: 'lost'; readonly epoch: number }
  | { readonly kind: 'claiming'; readonly from: Lease['leader'] }
  /** The log could not be read or written just then: it is tried again. */
  | { readonly kind: 'unclaimed'; readonly reason: unknown }
  /** The process applies the log no more, as it cannot read this event. */
  | { readonly kind: 'halted'; readonly event: StoredEvent }
  /** Another program has written into streams of the namespace: its events are skipped. */
  | { readonly kind: 'foreign'; readonly events: readonly StoredEvent[] }
  /** The log could not be written at the end: other processes find out by themselves that this one has ended. */
  | { readonly kind: 'unreturned'; readonly reason: unknown };

/** Claims the lease whenever it is free, and is a standby otherwise. */
export function joinFleet(options: FleetOptions): Fleet {
  const { claimant, view, takeOffice, report } = options;
  /** Epoch of the lease under which commands are accepted. */
  let office: number | undefined;
  /** Epoch of the lease whose holder was seen alive, not only named by the log. */
  let confirmed: number | undefined;
  const start = view.current();
  let isStandby = false;
  let isClosed = false;
  let hasSteppedDown = false;
  let isTurn = options.turn === undefined;
  void options.turn?.then(() => {
    isTurn = true;
    view.wake();
  });
  const pace = createClaimPace(() => performance.now());

  const holds = (lease: Lease) => lease.leader?.owner === claimant.owner;
  /** Reads can be answered whichever process is the leader. */
  const beReadable = (): void => {
    if (isStandby) return;
    isStandby = true;
    options.standBy();
  };
  const epoch = () => (holds(view.current()) && office === view.current().epoch ? office : undefined);
  const hold = async (lease: Lease): Promise<void> => {
    try {
      await takeOffice(leadOf(claimant.space, lease));
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
      return giveBack();
    }
    office = lease.epoch;
    isStandby = false;
    report({ kind: 'leading', epoch: lease.epoch });
    view.wake();
    while (!isClosed && view.current().epoch === lease.epoch && holds(view.current()))
      await view.changed(60_000);
    office = undefined;
    beReadable();
    if (isClosed || view.current().epoch === lease.epoch) return;
    report({ kind: 'lost', epoch: lease.epoch });
    pace.lost();
  };
  /** Steps down from a claim that this process cannot use, because it cannot read the log up to there. */
  const giveBack = async (): Promise<void> => {
    isClosed = true;
    try {
      await returnOwnLease(claimant);
    } catch (reason) {
      report({ kind: 'unreturned', reason });
    }
  };
  const confirm = (lease: Lease): void => {
    if (confirmed === lease.epoch) return;
    beReadable();
    confirmed = lease.epoch;
    view.wake();
  };
  const claim = async (lease: Lease): Promise<void> => {
    await options.applied(await claimant.log.lastPosition());
    // A process that was itself stopped knows nothing about the leader: it first looks at what arrived in the meantime.
    if (isClosed || view.current() !== lease) return;
    report({ kind: 'claiming', from: lease.leader });
    const claimed = await claimLease(claimant, lease);
    try {
      await options.applied(claimed?.position ?? (await claimant.log.lastPosition()));
    } catch (error) {
      if (claimed !== undefined && error instanceof UnreadableEvent) await giveBack();
      throw error;
    }
  };
  const seek = async (lease: Lease): Promise<void> => {
    // A claim that came while this process was running is a sign of life itself.
    if (lease !== start || options.mayLead === false) confirm(lease);
    if (options.mayLead === false) return view.changed(60_000);
    const watch = {
      view,
      lease,
      timeouts: { ...LEADER_TIMEOUTS, silence: pace.silence() },
      isClosed: () => isClosed,
      alive: () => confirm(lease),
      membership: claimant.membership,
      mayClaim: () => isTurn,
      silent: beReadable,
    };
    if (!(await watchLeader(watch))) return;
    if (pace.hasLost() && lease.leader !== undefined) await view.changed(pace.silence() * Math.random());
    try {
      await claim(lease);
    } catch (reason) {
      // A leader that is stopped inside a commit locks the log until it continues or ends.
      report({ kind: 'unclaimed', reason });
      beReadable();
      await view.changed(LEADER_TIMEOUTS.silence);
    }
  };
  const run = async (): Promise<void> => {
    while (!isClosed) {
      const lease = view.current();
      await (holds(lease) ? hold(lease) : seek(lease));
    }
  };
  const done = run();
  done.catch(() => {});
  const close = async () => {
    isClosed = true;
    view.wake();
    // It may wait for something that never comes: a leader far away, a log that does not answer.
    await Promise.race([
      done.catch(() => {}),
      delay(LEADER_TIMEOUTS.probeTimeout, undefined, { ref: false }),
    ]);
  };
  return {
    epoch,
    lead: () => (epoch() === undefined ? undefined : leadOf(claimant.space, view.current())),
    newestEpoch: () => view.current().epoch,
    leader() {
      const { leader } = view.current();
      if (leader !== undefined && epoch() !== undefined) return { kind: 'here', leader };
      // Nobody is watched any more: the newest claim of another process is believed.
      const isConfirmed = hasSteppedDown || confirmed === view.current().epoch;
      const isKnown = leader !== undefined && !holds(view.current()) && isConfirmed;
      if (!isKnown) return { kind: 'nobody' };
      return { kind: 'elsewhere', leader, term: view.term() };
    },
    async counts(position, lead) {
      // Exact up to the position of the graph. Beyond, it may lag behind a newer claim.
      if (options.position() >= position) return options.epochAt(position) === lead.epoch;
      return countsByLease(claimant.log, position, lead);
    },
    changed: view.changed,
    async stepDown() {
      const lease = view.current();
      await close();
      office = undefined;
      hasSteppedDown = true;
      if (!holds(lease)) return;
      await returnLease(claimant, lease).catch((reason) => report({ kind: 'unreturned', reason }));
    },
    done,
    close,
  };
}
