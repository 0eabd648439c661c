import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { PurgingLeaderStore } from '../../shared/read-index/purging-leader.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import { leadOutbox, type OutboxTerm } from '../outbox/lead-outbox.ts';
import { reporting } from '../outbox/reporting.ts';
import { untilShown } from '../outbox/until-shown.ts';
import type { WaitingPurges } from '../state/watch-delivery.ts';
import type { PurgeNotes } from './purge-notes.ts';
import type { PurgeTerm } from './purge-store.ts';
import type { PurgeStyle, PurgeTarget } from './purge-target.ts';
import { announceLeader, LONGEST_MS, repeat } from './purging-leader.ts';
import {
  createPurgeSender,
  type PurgeLimits,
  type PurgeReport,
  receiverNames,
  type Searches,
} from './send-purges.ts';

export type PurgeSettings = {
  readonly targets: readonly PurgeTarget[];
  readonly style: PurgeStyle;
  readonly limits: PurgeLimits;
  readonly report: PurgeReport;
};

export type PurgerOptions = PurgeSettings & {
  readonly notes: PurgeNotes;
  readonly fleet: Pick<Fleet, 'epoch' | 'changed'>;
  /** Names everything besides content that shapes answers. */
  readonly shape: () => string;
  readonly metrics: Metrics | undefined;
  readonly log: Pick<EventStore, 'lastPosition'>;
  /** Resolves with true when this process has applied the log up to a position. */
  readonly applied: (position: bigint) => Promise<boolean>;
  /** Documents from which all processes answer. `shape`: that of their answers, see `ComposedApi`. Absent: the index is in this process. */
  readonly documents?:
    | (Searches & { readonly leader: PurgingLeaderStore; readonly shape: () => string })
    | undefined;
};

export type Purger = ReturnType<typeof startPurger>;

const FIRST_EPOCH = 1;
const LOOK_MS = 100;
/** Answers of an earlier leader reach caches within this time. */
const SETTLE_MS = 5_000;

/** Purges changes while this process is the leader. */
export function startPurger(options: PurgerOptions) {
  const { fleet, report } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const waiting = () => waitingOf(options);
  options.metrics?.samples(METRICS.purgesWaiting, () =>
    (waiting() ?? []).map(({ receiver, count }) => ({ labels: { receiver }, value: count })),
  );
  let current = Number.NEGATIVE_INFINITY;
  const beat = async (): Promise<void> => {
    const asked = performance.now();
    const applied = options.log.lastPosition().then(options.applied);
    if (await untilAborted(applied, signal)) current = asked;
  };
  const outbox = leadOutbox({ fleet, begin: (epoch) => beginTerm(options, epoch), failed: report.error });
  // Never rejects, and reports nothing: the reports of the log name its failures.
  const beating = repeat(beat, signal, () => {});
  const isLeading = () => fleet.epoch() !== undefined && outbox.term() !== undefined;
  return {
    /**
     * Returns whether this process purges all changes from now on: it is the leader, can read its file, and knew the whole log a moment ago.
     * A process that was paused may have lost the lease.
     */
    isPurging: () => isLeading() && performance.now() - current < LONGEST_MS,
    /** Returns how many changes wait for each receiver; null if another process purges. */
    waiting,
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([outbox.stop(), beating]);
    },
  };
}

/** Begins to purge what the leader before has left, and then all changes: one term of a leader. */
async function beginTerm(options: PurgerOptions, epoch: number): Promise<OutboxTerm> {
  const { notes, fleet, targets, documents, shape, report } = options;
  const receivers = targets.flatMap((target) => receiverNames(target));
  const before = notes.store.term();
  const term = { epoch, shape: shape() };
  // Another process may have been the leader since. Its purges are not known here.
  const isOwn = before !== undefined && (before.epoch === epoch || before.epoch === epoch - 1);
  const isKnown = isOwn && before.shape === term.shape && receivers.every(notes.store.hasAllFor);
  const senders = targets.map((target) =>
    createPurgeSender({ ...options, ...notes, searches: documents }, target),
  );
  const isLeading = () => fleet.epoch() === epoch;
  const look = () => {
    for (const sender of senders) sender.look();
  };
  notes.lead({ isLeading, moved: look, isKnown });
  const watch = watchShape(options, term, isOwn);
  look();
  // While the disk is full, purges continue without the file.
  const beat = reporting(report.error, () => {
    if (!isLeading()) return;
    watch();
    notes.keep();
    notes.store.done(receivers);
  });
  beat();
  const timer = setInterval(beat, LOOK_MS);
  const ended = new AbortController();
  // Never rejects: failures are reported and repeated.
  const announcing = announce(options, epoch, ended.signal);
  return {
    async close() {
      clearInterval(timer);
      ended.abort();
      beat();
      await Promise.all([announcing, ...senders.map((one) => one.close())]);
    },
  };
}

/** Announces this leader to other processes, while its index is outside of this process. Never rejects. */
async function announce(
  { documents, notes, report }: PurgerOptions,
  epoch: number,
  signal: AbortSignal,
): Promise<void> {
  if (documents === undefined) return;
  const { leader: store, shape } = documents;
  const leader = () => ({ epoch, shape: shape() });
  // The announcement is next to the progress, whose index exists by then.
  if (!(await untilShown(documents.shows, 1n, signal))) return;
  await announceLeader({ store, leader, changed: notes.everything, signal, failed: report.error });
}

/**
 * Returns a function that looks at the shape of answers, and purges all when it has changed. `isOwn`: no other process has led since the
 * last term of this one.
 */
function watchShape(
  { notes: { store, everything, isWhole }, shape }: PurgerOptions,
  { epoch, shape: first }: PurgeTerm,
  isOwn: boolean,
): () => void {
  let shown = first;
  // Until then answers of another leader may still reach caches.
  const settledAt = isOwn || epoch === FIRST_EPOCH ? 0 : performance.now() + SETTLE_MS;
  let isQuiet = settledAt === 0;
  let isKept = false;
  return () => {
    const now = shape();
    const isSettled = performance.now() > settledAt;
    if (now !== shown || (isSettled && !isQuiet)) everything();
    if (now !== shown) isKept = false;
    [isQuiet, shown] = [isQuiet || isSettled, now];
    if (!isSettled || isKept || !isWhole()) return;
    store.keepTerm({ epoch, shape: now });
    isKept = true;
  };
}

/** Returns how many changes wait for each receiver, while this process is the leader. */
function waitingOf({ notes, targets, fleet }: PurgerOptions): readonly WaitingPurges[] | null {
  if (fleet.epoch() === undefined) return null;
  return targets.map((target) => ({
    receiver: target.kind,
    count: Math.max(0, notes.store.newest() - (notes.store.checkpoint(receiverNames(target)[0]) ?? 0)),
  }));
}
