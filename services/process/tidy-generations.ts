import { setTimeout as delay } from 'node:timers/promises';
import { isEnded, type Rebuild } from '../../projections/generations/generation.ts';
import { removeGeneration } from '../../projections/graph/store/generation-files.ts';
import { retry } from '../../shared/retry.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Rebuilds } from '../operator/operation.ts';
import { LeaderElsewhere, NOT_LEADING } from '../read-side/outside-generation.ts';
import type { ReadSidePlan } from '../read-side/read-side.ts';
import type { ServedGenerations } from '../read-side/served-generations.ts';
import { discardRebuild, interruptRebuild, isMade } from '../rebuild/cancel-rebuild.ts';
import { rebuildsOf } from '../rebuild/rebuilds-of.ts';

export type TidyOptions = {
  readonly data: string;
  readonly plan: ReadSidePlan;
  readonly generations: Pick<
    ServedGenerations,
    'store' | 'entered' | 'removeOlder' | 'abandon' | 'isSwitching'
  >;
  readonly fleet: Pick<Fleet, 'epoch' | 'changed' | 'leader'>;
  readonly removed: (indices: readonly string[]) => void;
  readonly failed: (error: unknown) => void;
};

/** Also the time for which a process that lost the lease keeps its rebuild, and the leader does not remove indices: the lease may return. */
const TIDY_EVERY_MS = 15_000;
const BACKOFF = { firstMs: 1_000, longestMs: 30_000 };
/** Looks until a switch that no process continues is given up: the command that waits for a killed server continues it sooner. */
const LEFT_LOOKS = 4;

/**
 * Starts to remove what failed rebuilds have left, as soon as this process serves. Where all processes read one index, only the leader's
 * rebuild can end: the leader removes the indices of others, and a process that is no longer the leader cancels its own rebuild. Both wait a
 * while, because a process that was paused for a moment often becomes the leader again.
 */
export function tidyGenerations(options: TidyOptions): Rebuilds & { stop(): Promise<void> } {
  const { data, plan, generations, fleet } = options;
  const { store, abandon } = generations;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const work = async () => {
    await Promise.race([generations.entered, stopped]);
    await Promise.all([tidyRecords(options, signal), plan.outside && tidyIndices(options, signal)]);
  };
  work().catch(options.failed);
  return {
    ...rebuildsOf({ data, store, plan, abandon }),
    async dropOfOthers() {
      if (plan.outside === undefined) return [];
      const epoch = fleet.epoch();
      if (epoch === undefined) throw new LeaderElsewhere();
      return sweep(options, epoch, true);
    },
    async stop() {
      stopping.abort();
    },
  };
}

/**
 * Removes the generations that a rollback does not need, what a cancelled rebuild could not remove, and a generation that was ready to be
 * served when its server was killed, if no command continues the switch.
 */
async function tidyRecords(
  { data, plan, generations: { store, isSwitching, removeOlder }, failed }: TidyOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let looks = 0; !signal.aborted; ) {
    await removeOlder().catch(failed);
    const rebuild = store.rebuild();
    const isLeft = rebuild?.phase === 'taking over' && !isSwitching();
    looks = isLeft ? looks + 1 : 0;
    if (isCancelLeft(data, rebuild))
      await discardRebuild({ data, plan, store }, rebuild, rebuild.message ?? 'it was cancelled').catch(
        failed,
      );
    if (isLeft && looks > LEFT_LOOKS)
      await discardRebuild({ data, plan, store }, rebuild, notContinued(data)).catch(failed);
    await delay(TIDY_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Returns whether the process that was to cancel a rebuild ended before it could, as when Elasticsearch was away. */
function isCancelLeft(data: string, rebuild: Rebuild | undefined): rebuild is Rebuild {
  if (rebuild?.wanted !== 'cancel' || isEnded(rebuild.phase)) return false;
  return rebuild.phase !== 'taking over' && !isMade(data);
}

/** The end of the process left no record: a full disk has no space for one. */
function notContinued(data: string): string {
  return `no process continued the switch: the server was killed, or the disk of ${data} was full`;
}

async function tidyIndices(options: TidyOptions, signal: AbortSignal): Promise<void> {
  const { fleet, failed } = options;
  /** The last leader that was seen: the epoch of this process, or another process. `since`: the time of the first look. */
  let seen: { readonly leader: number | 'elsewhere'; readonly since: number } | undefined;
  const tidy = async (): Promise<void> => {
    const leader = fleet.epoch() ?? fleet.leader().kind;
    if (leader === 'here' || leader === 'nobody') return fleet.changed(TIDY_EVERY_MS);
    if (leader !== seen?.leader) seen = { leader, since: performance.now() };
    const left = seen.since + TIDY_EVERY_MS - performance.now();
    if (leader === 'elsewhere') await giveUp(options, left <= 0);
    else if (left <= 0) await sweep(options, leader);
    await fleet.changed(left > 0 ? left : TIDY_EVERY_MS);
  };
  while (!signal.aborted) await retry(tidy, { backoff: BACKOFF, isJittered: true, signal, failed });
}

/** Removes forgotten indices, and records of generations whose indices another leader has removed. Resolves to the removed indices. */
async function sweep(
  { data, plan, generations: { store }, removed: report }: TidyOptions,
  epoch: number,
  previousOfOthers = store.generations().some(({ state }) => state === 'kept'),
): Promise<readonly string[]> {
  const recorded = () => new Set(store.generations().flatMap(({ indices = {} }) => Object.values(indices)));
  const directory = store.directory();
  const swept = await plan.outside?.sweep({ directory, epoch, recorded, previousOfOthers });
  if (swept === undefined) return [];
  if (swept.removed.length > 0) report(swept.removed);
  for (const { number, state, indices } of store.generations()) {
    const isWhole = Object.values(indices ?? {}).every((index) => swept.existing.has(index));
    if (state !== 'kept' || isWhole) continue;
    removeGeneration(data, number);
    store.forget(number);
  }
  return swept.removed;
}

/**
 * Ends what only the leader can end well: a switch, which may be a rollback's, before this process steps down for it, and the rebuild.
 * `isLasting`: another process has been the leader for a while.
 */
async function giveUp(options: TidyOptions, isLasting: boolean): Promise<void> {
  const { isSwitching, abandon } = options.generations;
  // After the step-down the switch ends by itself.
  if (isSwitching()) await abandon(NOT_LEADING).catch(() => {});
  await cancelOwn(options, isLasting);
}

/**
 * Cancels the rebuild of this directory: another process is the leader, and would not let it switch over. `isLasting`: that process has been
 * the leader for a while. Otherwise cancels only a switch.
 */
async function cancelOwn(
  { data, plan, generations: { store, abandon } }: TidyOptions,
  isLasting: boolean,
): Promise<void> {
  const rebuild = store.rebuild();
  if (rebuild === undefined || isEnded(rebuild.phase)) return;
  // The process that makes the generation cancels it.
  if (rebuild.wanted === 'cancel' && isMade(data)) return;
  if (!isLasting && rebuild.phase !== 'taking over') return;
  const reason = rebuild.wanted === 'cancel' ? rebuild.message : NOT_LEADING;
  await interruptRebuild({ data, store, plan, abandon }, 'cancel', reason);
}
