import { setTimeout as delay } from 'node:timers/promises';
import {
  describeScope,
  isEnded,
  type Rebuild,
  type RebuildScope,
  sameScope,
} from '../../projections/generations/generation.ts';
import { removeGeneration } from '../../projections/graph/store/generation-files.ts';
import { isDiskFullAtOpen } from '../../shared/sqlite/failures.ts';
import { type FileLock, tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { ServerGone } from '../operator/call-operator.ts';
import { cancelAbandoned, cancelLocked, currentRebuild, lockFile } from './cancel-rebuild.ts';
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
    const last = host.store.rebuild();
    if (last !== undefined && !sameScope(last.scope, request.scope)) await cancelAbandoned(host);
    const rebuild = beginOrGoOn(host, request.scope);
    await makeGeneration(host, rebuild, request.accept).catch((error: unknown) => end(host, rebuild, error));
    return currentRebuild(host.store);
  } finally {
    lock.release();
  }
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
  return currentRebuild(store);
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
      const left = currentRebuild(host.store);
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
    if (error.wanted === 'cancel') await cancelLocked(host, rebuild, currentRebuild(host.store).message);
    return;
  }
  // A failed switch leaves nothing behind: the old generation stays live.
  if (currentRebuild(host.store).phase === 'taking over') {
    await cancelLocked(host, rebuild, (error as Error).message);
    throw error;
  }
  const failure = isDiskFullAtOpen(error, host.data) ? freeDisk(host, rebuild, error) : error;
  host.store.note(rebuild.id, (failure as Error).message);
  throw failure;
}

/** Removes an incomplete generation if the disk is full: otherwise no write is accepted until an operator removes it. */
function freeDisk({ data }: RebuildHost, { generation }: Rebuild, error: unknown): unknown {
  removeGeneration(data, generation);
  return new Error(
    `the disk of ${data} is full: what was made of generation ${generation} is removed, since writes need the space. Free some space and start the rebuild again`,
    { cause: error },
  );
}
