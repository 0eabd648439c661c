import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { PurgingLeaderStore } from '../../shared/read-index/purging-leader.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { leadTerms } from '../fleet/lead-terms.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';
import type { WaitingPurges } from '../state/watch-delivery.ts';
import type { PurgeNotes } from './purge-notes.ts';
import type { PurgeStyle, PurgeTarget } from './purge-target.ts';
import { announceLeader } from './purging-leader.ts';
import {
  createPurgeSender,
  type PurgeLimits,
  type PurgeReport,
  receiverNames,
  type Searches,
  SHOWN_MS,
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

/** Interval of the check that this process has applied the whole log, and how long a check is valid. */
const BEAT_MS = 500;
const LONGEST_SILENCE_MS = 2_000;
const FIRST_EPOCH = 1;
const LOOK_MS = 100;
/** Answers of an earlier leader reach caches within this time. */
const SETTLE_MS = 5_000;

/** Purges changes while this process is the leader. */
export function startPurger(options: PurgerOptions) {
  const { notes, fleet, report } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const waiting = () => waitingOf(options);
  options.metrics?.samples(METRICS.purgesWaiting, () =>
    waiting().map(({ receiver, count }) => ({ labels: { receiver }, value: count })),
  );
  let current = Number.NEGATIVE_INFINITY;
  const isPurging = () =>
    fleet.epoch() !== undefined && performance.now() - current < LONGEST_SILENCE_MS && !signal.aborted;
  const lead = async (epoch: number): Promise<void> => {
    const searches = options.documents;
    const senders = options.targets.map((target) =>
      createPurgeSender({ ...options, ...notes, searches }, target),
    );
    const look = () => {
      for (const sender of senders) sender.look();
    };
    notes.notify(look);
    const ended = new AbortController();
    let announcing: Promise<void> | undefined;
    try {
      // Never rejects: failures are reported and repeated.
      announcing = announce(options, epoch, AbortSignal.any([signal, ended.signal]));
      await keepPurging(options, epoch, { signal, look });
    } finally {
      ended.abort();
      notes.notify(() => {});
      await Promise.all([announcing, ...senders.map((one) => one.close())]);
    }
  };
  const failed = (error: unknown) => {
    if (!signal.aborted) report.error(error);
  };
  const rest = () => untilAborted(fleet.changed(LOOK_MS), signal);
  const beat = async (): Promise<void> => {
    while (!signal.aborted) {
      const asked = performance.now();
      const applied = options.log.lastPosition().then(options.applied);
      if (await untilAborted(applied, signal).catch(() => false)) current = asked;
      await delay(BEAT_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  // Never rejects: failures are reported and repeated.
  const running = Promise.all([leadTerms({ epoch: fleet.epoch, lead, rest, signal, failed }), beat()]);
  return {
    /**
     * Returns whether this process purges all changes from now on: it is the leader, and knew the whole log a moment ago. A process that
     * was paused may have lost the lease.
     */
    isPurging,
    /** Returns how many changes wait for each receiver; none if another process purges. */
    waiting,
    async close(): Promise<void> {
      closing.abort();
      await running;
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
  while (!signal.aborted && !(await documents.shows(1n, SHOWN_MS)));
  await announceLeader({ store, leader, changed: notes.everything, signal, failed: report.error });
}

/** Watches the shape of answers, from the beginning of a term to its end. */
async function keepPurging(
  { notes, fleet, shape, targets, report }: PurgerOptions,
  epoch: number,
  { signal, look }: { readonly signal: AbortSignal; readonly look: () => void },
): Promise<void> {
  const { store, everything, isWhole } = notes;
  const before = store.term();
  const receivers = targets.flatMap((target) => receiverNames(target));
  const isBehind = !receivers.every(store.hasAllFor);
  // Another process may have been the leader since. Its purges are not known here.
  const isOwn = before !== undefined && (before.epoch === epoch || before.epoch === epoch - 1);
  let shown = shape();
  if (!isOwn || isBehind || shown !== before.shape) everything();
  look();
  // Until then answers of another leader may still reach caches.
  const settledAt = isOwn || epoch === FIRST_EPOCH ? 0 : performance.now() + SETTLE_MS;
  const keepTerm = attempts(report, store.keepTerm);
  const done = attempts(report, store.done);
  let isQuiet = settledAt === 0;
  for (let isKept = false; fleet.epoch() === epoch && !signal.aborted; ) {
    const now = shape();
    const isSettled = performance.now() > settledAt;
    if (now !== shown || (isSettled && !isQuiet)) everything();
    isQuiet ||= isSettled;
    if (now !== shown) isKept = false;
    if (isSettled && !isKept && isWhole()) isKept = keepTerm({ epoch, shape: now });
    shown = now;
    done(receivers);
    await untilAborted(fleet.changed(LOOK_MS), signal);
  }
}

/** Tries to write the file. While the disk is full, purges continue without the file. Reports the first failure in a row. */
function attempts<Given>(report: PurgeReport, write: (given: Given) => void): (given: Given) => boolean {
  let isFailing = false;
  return (given) => {
    try {
      write(given);
      isFailing = false;
      return true;
    } catch (error) {
      if (!isFailing) report.error(error);
      isFailing = true;
      return false;
    }
  };
}

/** Returns how many changes wait for each receiver, while this process is the leader. */
function waitingOf({ notes, targets, fleet }: PurgerOptions): readonly WaitingPurges[] {
  if (fleet.epoch() === undefined) return [];
  return targets.map((target) => ({
    receiver: target.kind,
    count: Math.max(0, notes.store.newest() - (notes.store.checkpoint(receiverNames(target)[0]) ?? 0)),
  }));
}
