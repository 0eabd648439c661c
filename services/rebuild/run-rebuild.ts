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
  /** The differences that the verification finds are intended. */
  readonly accept: boolean;
  /** Milliseconds to wait for another process that works at it and is ending. */
  readonly othersEndMs: number;
};

const ATTACHED_POLL_MS = 200;

/**
 * Makes the next generation, has it verified and taken over, and resolves with what became of it. While the same rebuild runs in
 * another process, this one waits for its end. Where it was cut short, before or meanwhile, this one continues it from its
 * checkpoint. Throws a sentence when a rebuild of another scope has not ended.
 */
export async function runRebuild(host: RebuildHost, request: RebuildRequest): Promise<Rebuild> {
  for (;;) {
    const lock = tryLockFile(lockFile(host.data), request.othersEndMs);
    if (lock !== undefined) return runLocked(host, request, lock);
    const found = await attach(host, request.scope);
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

/** Wants the rebuild that is not over to pause or to be given up. Where nobody works at it, this is done at once. */
export async function interruptRebuild(where: Cancelling, wanted: 'pause' | 'cancel'): Promise<Rebuild> {
  const { store } = where;
  const rebuild = store.rebuild();
  if (rebuild === undefined || isEnded(rebuild.phase))
    throw new Error('there is no rebuild to pause or cancel');
  if (rebuild.phase === 'taking over')
    throw new Error(
      `the switch to the new generation has already begun; if its server was killed, ${describeScope(rebuild.scope)} continues it`,
    );
  // First without a note: on a full disk there is space for it only when the files are gone.
  if (wanted === 'cancel' && (await cancelIdle(where))) return current(store);
  store.want(rebuild.id, wanted);
  // The process that worked at it may have ended before it saw the note.
  if (wanted === 'cancel') await cancelIdle(where);
  return current(store);
}

/** Gives up the rebuild if no process works at it. Returns whether none does. */
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

/** Gives up a copy that was made for content types that have changed without it. */
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
    // Files of this number come from a record of generations that was lost.
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

/** Waits while another process works at the rebuild. `cut short`: it has ended, and the rebuild has not. */
async function attach(host: RebuildHost, scope: RebuildScope): Promise<Rebuild | 'cut short'> {
  const running = current(host.store);
  if (!sameScope(running.scope, scope)) {
    throw new Error(
      `${describeScope(running.scope)} is running: wait for it, or cancel it with varve rebuild --cancel`,
    );
  }
  for (;;) {
    const rebuild = current(host.store);
    if (rebuild.id !== running.id || isEnded(rebuild.phase) || rebuild.phase === 'stopped') return rebuild;
    host.tell(rebuild);
    const lock = tryLockFile(lockFile(host.data));
    if (lock !== undefined) {
      lock.release();
      const left = current(host.store);
      return isCutShort(host, left) ? 'cut short' : left;
    }
    await delay(ATTACHED_POLL_MS);
  }
}

/** Whether the process that worked at a rebuild, and has ended, left something to do: it was killed. */
function isCutShort({ takesOver }: RebuildHost, { phase, wanted, message }: Rebuild): boolean {
  if (isEnded(phase) || phase === 'stopped' || wanted !== 'run' || message !== undefined) return false;
  return takesOver || phase !== 'taking over';
}

/** Ends a rebuild after an error: it can be continued, or its files are removed. */
async function end(host: RebuildHost, rebuild: Rebuild, error: unknown): Promise<void> {
  // As if this process had ended with its server: the next one continues.
  if (error instanceof ServerGone) throw error;
  if (error instanceof RebuildInterrupted) {
    if (error.wanted === 'cancel') await cancel(host, rebuild);
    return;
  }
  const failure = isDiskFullAtOpen(error, host.data) ? freeDisk(host, rebuild, error) : error;
  host.store.note(rebuild.id, (failure as Error).message);
  throw failure;
}

/** Removes what was made of a generation: on a full disk no write would be accepted until an operator has removed it. */
function freeDisk({ data, store }: RebuildHost, { generation }: Rebuild, error: unknown): unknown {
  // The graph is whole, and another process may have it open.
  if (current(store).phase === 'taking over') return error;
  removeGeneration(data, generation);
  return new Error(
    `the disk of ${data} is full: what was made of generation ${generation} is removed, since writes need the space. Free some space and start the rebuild again`,
    { cause: error },
  );
}

/** The indices first: with the record nobody would know of them. The files before the record, which a full disk has no space for. */
async function cancel({ data, store, plan }: Cancelling, { id, generation }: Rebuild): Promise<void> {
  if (store.live().number === generation) throw new Error(`generation ${generation} serves`);
  await removeIndices(store, generation, plan.outside);
  removeGeneration(data, generation);
  store.forget(generation);
  store.enter(id, 'cancelled');
}
