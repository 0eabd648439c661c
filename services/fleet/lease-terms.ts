import { AppendTooLarge, LogRestored, type StoredEvent } from '../../shared/event-store/event-store.ts';
import { UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import { type Lead, type Lease, leadOf } from '../../shared/fleet/lease.ts';
import { type Claimant, claimLease } from './claim-lease.ts';
import { createClaimPace } from './claim-pace.ts';
import type { Leadership } from './leadership.ts';
import { type LeaseView, readLease } from './lease-view.ts';
import { returnOwnLease } from './require-lease.ts';
import { LEADER_TIMEOUTS, watchLeader } from './watch-leader.ts';

export type FleetReport =
  | { readonly kind: 'leading'; readonly epoch: number }
  | { readonly kind: 'lost'; readonly epoch: number }
  | { readonly kind: 'claiming'; readonly from: Lease['leader'] }
  /** The log could not be read or written. The process tries again. */
  | { readonly kind: 'unclaimed'; readonly reason: unknown }
  /** The process no longer applies the log, because it cannot read this event. */
  | { readonly kind: 'halted'; readonly event: StoredEvent }
  /** Another program has written into streams of the namespace. Its events are skipped. */
  | { readonly kind: 'foreign'; readonly events: readonly StoredEvent[] }
  /** The process could not write to the log that it steps down. Other processes notice that it has ended. */
  | { readonly kind: 'unreturned'; readonly reason: unknown };

/** Error of a term that could not begin, because the log could not be read or written. Its cause is the failure. */
export class LogFailed extends Error {}

/** Marks a failure of the log that may pass. All others stay what they are. */
export async function fromLog<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    const isFinal = [LogRestored, UnreadableEvent].some((final) => cause instanceof final);
    const { message, cause: earlier } = cause as Error;
    if (isFinal || earlier instanceof AppendTooLarge) throw cause;
    throw new LogFailed(message, { cause });
  });
}

export type LeaseTermsOptions = {
  readonly claimant: Claimant;
  /** The lease, read from the log with the graph: the graph has applied all events that the view has applied. */
  readonly view: LeaseView;
  /** Resolves when the graph has applied the log up to a position. */
  readonly applied: (position: bigint) => Promise<void>;
  /** Work between the claim and the first command. The graph has applied the claim. It is done again after LogFailed. */
  readonly beginTerm: (lead: Lead) => Promise<void>;
  /** False: this process never claims the lease. Default: it claims a free lease. */
  readonly mayLead?: boolean;
  /** Resolves when this process may claim the lease. Before that it only watches the leader. Default: at once. */
  readonly turn?: Promise<void>;
  readonly report: (what: FleetReport) => void;
};

/** Options, and the state that the terms of one process share. */
type Member = LeaseTermsOptions & {
  readonly leadership: Leadership;
  readonly pace: ReturnType<typeof createClaimPace>;
  /** The lease that the process found when it started. */
  readonly start: Lease;
  readonly isTurn: () => boolean;
  /** Aborted when this process no longer watches the lease. */
  readonly closing: AbortController;
};

/** Holds the lease or watches its holder, in turn, until `closing` is aborted. Rejects if the graph or the read index has failed. */
export async function runLeaseTerms(
  options: LeaseTermsOptions,
  leadership: Leadership,
  closing: AbortController,
): Promise<void> {
  const { view, turn } = options;
  let isTurn = turn === undefined;
  // Never rejects: the turn comes, or never comes.
  void turn?.then(() => {
    isTurn = true;
    view.wake();
  });
  const pace = createClaimPace(() => performance.now());
  const start = view.current();
  const member: Member = { ...options, leadership, pace, start, isTurn: () => isTurn, closing };
  for (let before = start; !closing.signal.aborted; ) {
    const lease = view.current();
    if (!leadership.isOwn(before) && !leadership.isOwn(lease) && isTakenOver(before, lease)) pace.sawLoss();
    before = lease;
    await (leadership.isOwn(lease) ? hold(member, lease) : seek(member, lease));
  }
}

/** Returns whether a leader claimed a lease that its holder had not returned. */
function isTakenOver(before: Lease, { leader, successor }: Lease): boolean {
  if (before.leader === undefined || leader === undefined) return false;
  return before.leader.owner !== leader.owner && successor?.owner !== leader.owner;
}

/** Accepts commands under a lease of this process until the lease changes. */
async function hold(member: Member, lease: Lease): Promise<void> {
  const { claimant, view, leadership, report, pace, closing } = member;
  const { epoch } = lease;
  try {
    await member.beginTerm(leadOf(claimant.space, lease));
  } catch (error) {
    return endUnbegun(member, lease, error);
  }
  leadership.begin(lease);
  report({ kind: 'leading', epoch });
  view.wake();
  await untilTaken(member, epoch);
  leadership.end();
  if (closing.signal.aborted || view.current().epoch === epoch) return;
  report({ kind: 'lost', epoch });
  pace.lost();
}

/** Resolves when the lease of an epoch is no longer held by this process, as far as it knows, or `closing` is aborted. */
async function untilTaken({ view, leadership, closing }: Member, epoch: number): Promise<void> {
  while (!closing.signal.aborted && view.current().epoch === epoch && leadership.isOwn(view.current()))
    await view.changed(60_000);
}

/** Ends a term that could not begin. Throws the error if neither a newer leader nor the log is the cause. */
async function endUnbegun(member: Member, { epoch }: Lease, error: unknown): Promise<void> {
  const { view, leadership, report, pace, closing } = member;
  if (closing.signal.aborted) return;
  if (error instanceof UnreadableEvent) return giveBack(member);
  const newest = await newestLease(member, error);
  if (closing.signal.aborted) return;
  if (newest instanceof LogFailed) {
    // The log may work again. The process keeps the lease, and begins the term again.
    report({ kind: 'unclaimed', reason: newest.cause });
    leadership.beStandby();
    return view.changed(LEADER_TIMEOUTS.silence);
  }
  if (newest === undefined || (newest.epoch === epoch && leadership.isOwn(newest))) throw error;
  report({ kind: 'lost', epoch });
  leadership.end();
  pace.lost();
  // The claim of the newer leader is in the log, and arrives in a moment.
  await untilTaken(member, epoch);
}

/** Reads the lease in the log after an error. Resolves with LogFailed if the log fails, and with undefined if the lease cannot be read. */
async function newestLease(
  { claimant: { log, space }, view }: Member,
  error: unknown,
): Promise<Lease | LogFailed | undefined> {
  if (error instanceof LogFailed) return error;
  return fromLog(readLease(log, space, view.current())).catch((failure: unknown) =>
    failure instanceof LogFailed ? failure : undefined,
  );
}

/** Watches the holder of a lease until the lease changes. Claims the lease if it is free. */
async function seek(member: Member, lease: Lease): Promise<void> {
  const { claimant, view, leadership, pace, mayLead = true } = member;
  // A claim that this process saw in the log while it ran is itself a sign of life.
  if (lease !== member.start || !mayLead) leadership.confirm(lease);
  if (!mayLead) return view.changed(60_000);
  const isFree = await watchLeader({
    view,
    lease,
    timeouts: { ...LEADER_TIMEOUTS, silence: pace.silence() },
    isClosed: () => member.closing.signal.aborted,
    alive: () => leadership.confirm(lease),
    claimant,
    mayClaim: member.isTurn,
    silent: leadership.beStandby,
  });
  if (!isFree) return;
  if (pace.hasLost() && lease.leader !== undefined) await view.changed(pace.silence() * Math.random());
  try {
    await claim(member, lease);
  } catch (reason) {
    // A leader that was stopped during a commit locks the log until it continues or ends.
    member.report({ kind: 'unclaimed', reason });
    leadership.beStandby();
    await view.changed(LEADER_TIMEOUTS.silence);
  }
}

async function claim(member: Member, lease: Lease): Promise<void> {
  const { claimant, view, applied } = member;
  await applied(await claimant.log.lastPosition());
  // The log may have a newer lease if this process was stopped for a while.
  if (member.closing.signal.aborted || view.current() !== lease) return;
  member.report({ kind: 'claiming', from: lease.leader });
  const claimed = await claimLease(claimant, lease);
  try {
    await applied(claimed?.position ?? (await claimant.log.lastPosition()));
    // Another process was faster. Its claim arrives in a moment, and nothing is gained by a second attempt before.
    if (claimed === undefined && view.current() === lease) await view.changed(LEADER_TIMEOUTS.probeEvery);
  } catch (error) {
    if (claimed !== undefined && error instanceof UnreadableEvent) await giveBack(member);
    throw error;
  }
}

/** Steps down from a claim that this process cannot use, because it cannot read the log up to there. Ends its part in the fleet. */
async function giveBack({ claimant, report, closing }: Member): Promise<void> {
  closing.abort();
  try {
    await returnOwnLease(claimant);
  } catch (reason) {
    report({ kind: 'unreturned', reason });
  }
}
