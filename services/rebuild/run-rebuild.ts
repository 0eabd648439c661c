import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  describeScope,
  isEnded,
  type Rebuild,
  type RebuildScope,
  sameScope,
} from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import { removeGeneration } from '../../projections/graph/store/generation-files.ts';
import { isDiskFullAtOpen } from '../../shared/sqlite/failures.ts';
import { type FileLock, tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { ServerGone } from '../operator/call-operator.ts';
import { removeIndices } from '../read-side/remove-indices.ts';
import { makeGeneration } from './make-generation.ts';
import { type RebuildHost, RebuildInterrupted } from './rebuild-host.ts';

export type RebuildRequest = {
  readonly scope: RebuildScope;
  /** True if the differences that the verification finds are intended. */
  readonly accept: boolean;
  /** Milliseconds to wait for another process that works on the rebuild and is ending. */
  readonly othersEndMs: number;
};

const ATTACHED_POLL_MS = 200;

/**
 * Makes the next generation, verifies it and switches over, and resolves with the ended rebuild. While another process runs the same
 * rebuild, this one waits for its end. If that process was killed, this one continues the rebuild from its checkpoint. Rejects with a
 * sentence if a rebuild of another scope has not ended.
 */
export async function runRebuild(host: RebuildHost, request: RebuildRequest): Promise<Rebuild> {
  const before = host.store.rebuild();
  for (;;) {
    const lock = tryLockFile(lockFile(host.data), request.othersEndMs);
    if (lock !== undefined) return runLocked(host, request, lock);
    const found = await attach(host, request.scope, before);
    if (found !== 'cut short') return found;
  }
}

async function runLocked(host: RebuildHost, request: RebuildRequest, lock: FileLock): Promise<Rebuild> {
  try {
    const rebuild = beginOrGoOn(host, request.scope);
    await makeGeneration(host, rebuild, request.accept).catch((error: unknown) => end(host, rebuild, error));
    return current(host.store);
  } finally {
    lock.release();
  }
}

/** Requests that the running rebuild is paused or cancelled. If no process works on it, this happens at once. */
export async function interruptRebuild(where: Cancelling, wanted: 'pause' | 'cancel'): Promise<Rebuild> {
  const { store } = where;
  const rebuild = store.rebuild();
  if (rebuild === undefined || isEnded(rebuild.phase))
    throw new Error('there is no rebuild to pause or cancel');
  if (rebuild.phase === 'taking over')
    throw new Error(
      `the switch to the new generation has already begun; if its server was killed, ${describeScope(rebuild.scope)} continues it`,
    );
  // First it tries to cancel without recording the request: a full disk has no space for that before the files are
  // removed.
  if (wanted === 'cancel' && (await cancelIdle(where))) return current(store);
  store.want(rebuild.id, wanted);
  // The process that worked on the rebuild may have ended before it read the request.
  if (wanted === 'cancel') await cancelIdle(where);
  return current(store);
}

/** Cancels the rebuild if no process works on it. Returns whether no process does. */
async function cancelIdle(where: Cancelling): Promise<boolean> {
  const { data, store } = where;
  const lock = tryLockFile(lockFile(data));
  if (lock === undefined) return false;
  try {
    const rebuild = current(store);
    if (isEnded(rebuild.phase) || rebuild.phase === 'taking over') return true;
    await cancel(where, rebuild);
    store.want(rebuild.id, 'cancel');
    return true;
  } finally {
    lock.release();
  }
}

/** Cancels a copy that was made for new content types, after these types took effect without it. */
export async function cancelUnusedCopy({ data, store, plan }: Cancelling): Promise<void> {
  const rebuild = store.rebuild();
  if (rebuild?.scope.copy !== true || isEnded(rebuild.phase)) return;
  const lock = tryLockFile(lockFile(data));
  if (lock === undefined) return;
  try {
    await cancel({ data, store, plan }, rebuild);
  } finally {
    lock.release();
  }
}

/** Parts of the host that a cancelled rebuild needs. */
export type Cancelling = Pick<RebuildHost, 'data' | 'store' | 'plan'>;

function lockFile(data: string): string {
  return join(data, 'rebuild.db');
}

function current(store: GenerationStore): Rebuild {
  const rebuild = store.rebuild();
  if (rebuild === undefined) throw new Error('there is no rebuild');
  return rebuild;
}

function beginOrGoOn({ data, store, now }: RebuildHost, scope: RebuildScope): Rebuild {
  const last = store.rebuild();
  if (last === undefined || isEnded(last.phase)) {
    const begun = store.begin(scope, new Date(now()).toISOString());
    // Files with this number are left from a record of generations that was lost.
    removeGeneration(data, begun.generation);
    return begun;
  }
  if (!sameScope(last.scope, scope)) {
    throw new Error(
      `${describeScope(last.scope)} has not finished: run it again to continue, or remove it with varve rebuild --cancel`,
    );
  }
  store.want(last.id, 'run');
  return current(store);
}

/**
 * Waits while another process works on the rebuild. `cut short` means that this process ended before the rebuild did, or that it began none
 * after this request. `before`: the last rebuild at the time of this request.
 */
async function attach(
  host: RebuildHost,
  scope: RebuildScope,
  before: Rebuild | undefined,
): Promise<Rebuild | 'cut short'> {
  let isJoined = false;
  for (;;) {
    const rebuild = host.store.rebuild();
    if (rebuild !== undefined && isJoinable(rebuild, scope, isJoined ? undefined : before)) {
      isJoined = true;
      if (hasStopped(rebuild)) return rebuild;
      host.tell(rebuild);
    }
    const lock = tryLockFile(lockFile(host.data));
    if (lock !== undefined) {
      lock.release();
      if (!isJoined) return 'cut short';
      const left = current(host.store);
      return isCutShort(host, left) ? 'cut short' : left;
    }
    await delay(ATTACHED_POLL_MS);
  }
}

/**
 * Returns whether a rebuild is the requested one. It is not if it had stopped before the request: the process with the lock has not begun the
 * next one yet. Throws a message if a rebuild of another scope is running.
 */
function isJoinable(rebuild: Rebuild, scope: RebuildScope, before: Rebuild | undefined): boolean {
  if (!sameScope(rebuild.scope, scope)) {
    if (hasStopped(rebuild)) return false;
    throw new Error(
      `${describeScope(rebuild.scope)} is running: wait for it, or cancel it with varve rebuild --cancel`,
    );
  }
  return !hasStopped(rebuild) || rebuild.id !== before?.id || rebuild.phase !== before.phase;
}

function hasStopped({ phase }: Rebuild): boolean {
  return isEnded(phase) || phase === 'stopped';
}

/** Returns whether the process that worked on a rebuild ended before its work was done, as when it was killed. */
function isCutShort({ takesOver }: RebuildHost, left: Rebuild): boolean {
  if (hasStopped(left) || left.wanted !== 'run' || left.message !== undefined) return false;
  return takesOver || left.phase !== 'taking over';
}

/** Ends a rebuild after an error: it can be continued, or its files are removed. */
async function end(host: RebuildHost, rebuild: Rebuild, error: unknown): Promise<void> {
  // The rebuild is left as if this process had ended with its server: the next process continues it.
  if (error instanceof ServerGone) throw error;
  if (error instanceof RebuildInterrupted) {
    if (error.wanted === 'cancel') await cancel(host, rebuild);
    return;
  }
  const failure = isDiskFullAtOpen(error, host.data) ? freeDisk(host, rebuild, error) : error;
  host.store.note(rebuild.id, (failure as Error).message);
  throw failure;
}

/** Removes an incomplete generation if the disk is full: otherwise no write is accepted until an operator removes it. */
function freeDisk({ data, store }: RebuildHost, { generation }: Rebuild, error: unknown): unknown {
  // The graph is complete, and another process may have it open.
  if (current(store).phase === 'taking over') return error;
  removeGeneration(data, generation);
  return new Error(
    `the disk of ${data} is full: what was made of generation ${generation} is removed, since writes need the space. Free some space and start the rebuild again`,
    { cause: error },
  );
}

/**
 * Cancels a rebuild. The indices are removed first, since only the record has their names. The files are removed before the record is
 * written, since a full disk has no space for it.
 */
async function cancel({ data, store, plan }: Cancelling, { id, generation }: Rebuild): Promise<void> {
  if (store.live().number === generation) throw new Error(`generation ${generation} serves`);
  await removeIndices(store, generation, plan.outside);
  removeGeneration(data, generation);
  store.forget(generation);
  store.enter(id, 'cancelled');
}
