import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isEnded, type Rebuild } from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import { removeGeneration } from '../../projections/graph/store/generation-files.ts';
import { type FileLock, isFileLocked, tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { removeIndices } from '../read-side/remove-indices.ts';
import type { Abandon } from '../read-side/served-generations.ts';
import type { RebuildHost } from './rebuild-host.ts';

/** Parts of the host that a cancelled rebuild needs. */
export type Cancelling = Pick<RebuildHost, 'data' | 'store' | 'plan'>;

/** Milliseconds that a cancelled switch has until the process that made the generation has ended. */
const OTHERS_END_MS = 5_000;
const LOOK_EVERY_MS = 50;
const ABANDONED = 'no command waits for it any more';

const BY_OPERATOR = 'an operator cancelled the rebuild';
const UNUSED = 'the content types took effect without the rebuild';

/**
 * Requests that the running rebuild is paused or cancelled. If no process works on it, this happens at once. A switch can be cancelled
 * until the serving worker steps down: `abandon` ends it, and rejects with a message after that. `reason`: who or what cancels it, for the
 * record and for the commands that wait.
 */
export async function interruptRebuild(
  where: Cancelling & { readonly abandon: Abandon },
  wanted: 'pause' | 'cancel',
  reason = BY_OPERATOR,
): Promise<Rebuild> {
  const { store } = where;
  const rebuild = store.rebuild();
  if (rebuild === undefined || isEnded(rebuild.phase))
    throw new Error('there is no rebuild to pause or cancel');
  if (rebuild.phase === 'taking over') {
    if (wanted === 'pause') throw new Error('the switch to the new generation cannot be paused');
    await where.abandon(reason, rebuild.generation);
    await removeAbandoned(where, rebuild, reason);
    return currentRebuild(store);
  }
  // First it tries to cancel without recording the request: a full disk has no space for that before the files are
  // removed.
  if (wanted === 'cancel' && (await cancelIdle(where, reason))) return currentRebuild(store);
  store.want(rebuild.id, wanted, wanted === 'cancel' ? reason : undefined);
  // The process that worked on the rebuild may have ended before it read the request.
  if (wanted === 'cancel') await cancelIdle(where, reason);
  return currentRebuild(store);
}

/**
 * Removes a generation whose switch has failed: the old generation stays live. `message`: the reason. Does nothing if the rebuild has ended,
 * or if another process works on it.
 */
export async function discardRebuild(where: Cancelling, { id }: Rebuild, message: string): Promise<void> {
  const lock = await lockWithin(where.data, OTHERS_END_MS);
  if (lock === undefined) return;
  try {
    const rebuild = currentRebuild(where.store);
    if (rebuild.id === id && !isEnded(rebuild.phase)) await cancelLocked(where, rebuild, message);
  } finally {
    lock.release();
  }
}

async function removeAbandoned(where: Cancelling, rebuild: Rebuild, reason: string): Promise<void> {
  await discardRebuild(where, rebuild, reason);
  if (where.store.live().number === rebuild.generation)
    throw new Error(`generation ${rebuild.generation} is live already: varve rollback switches back`);
  if (!isEnded(currentRebuild(where.store).phase))
    throw new Error('another process works on the rebuild: run varve rebuild --cancel again');
}

/** Cancels the rebuild if no process works on it. Returns whether no process does. */
async function cancelIdle(where: Cancelling, reason: string): Promise<boolean> {
  const { data, store } = where;
  const lock = tryLockFile(lockFile(data));
  if (lock === undefined) return false;
  try {
    const rebuild = currentRebuild(store);
    if (isEnded(rebuild.phase)) return true;
    await cancelLocked(where, rebuild, reason);
    store.want(rebuild.id, 'cancel');
    return true;
  } finally {
    lock.release();
  }
}

/** Records that no command waits for the rebuild, unless a process works on it: one of another scope may replace it. */
export function noteAbandoned({ data, store }: Pick<Cancelling, 'data' | 'store'>): void {
  const rebuild = store.rebuild();
  if (rebuild === undefined || isEnded(rebuild.phase) || rebuild.phase === 'taking over') return;
  if (rebuild.wanted === 'run' && rebuild.message === undefined && !isMade(data))
    store.note(rebuild.id, ABANDONED);
}

/** Cancels a rebuild for which no command waits. The caller has locked `lockFile`. */
export async function cancelAbandoned(where: Cancelling): Promise<void> {
  const rebuild = where.store.rebuild();
  if (rebuild === undefined || isEnded(rebuild.phase) || rebuild.message !== ABANDONED) return;
  await cancelLocked(where, rebuild, ABANDONED);
}

/** Cancels a copy that was made for new content types, after these types took effect without it. */
export async function cancelUnusedCopy({ data, store, plan }: Cancelling): Promise<void> {
  const rebuild = store.rebuild();
  if (rebuild?.scope.copy !== true || isEnded(rebuild.phase)) return;
  const lock = tryLockFile(lockFile(data));
  if (lock === undefined) return;
  try {
    await cancelLocked({ data, store, plan }, rebuild, UNUSED);
  } finally {
    lock.release();
  }
}

/** Returns the file that the process which makes a generation has locked. */
export function lockFile(data: string): string {
  return join(data, 'rebuild.db');
}

/** Returns whether a process makes a generation of a data directory now. */
export function isMade(data: string): boolean {
  return isFileLocked(lockFile(data));
}

/** Returns the last rebuild. Throws if there is none. */
export function currentRebuild(store: Pick<GenerationStore, 'rebuild'>): Rebuild {
  const rebuild = store.rebuild();
  if (rebuild === undefined) throw new Error('there is no rebuild');
  return rebuild;
}

/**
 * Cancels a rebuild. The caller has locked `lockFile`. Does nothing if the generation is live. The indices are removed first, since only the
 * record has their names. The files are removed before the record is written, since a full disk has no space for it.
 */
export async function cancelLocked(
  { data, store, plan }: Cancelling,
  { id, generation }: Rebuild,
  message?: string,
): Promise<void> {
  if (store.live().number === generation) return;
  // A process that was killed may have moved the aliases.
  const switching = store.switching();
  if (switching?.number === generation && switching.indices !== undefined) {
    if (await plan.outside?.isLive(switching.indices)) return store.setLive(generation);
  }
  await removeIndices(store, generation, plan.outside);
  removeGeneration(data, generation);
  store.forget(generation);
  store.enter(id, 'cancelled', message);
}

async function lockWithin(data: string, ms: number): Promise<FileLock | undefined> {
  for (let left = ms; ; left -= LOOK_EVERY_MS) {
    const lock = tryLockFile(lockFile(data));
    if (lock !== undefined || left <= 0) return lock;
    await delay(LOOK_EVERY_MS);
  }
}
