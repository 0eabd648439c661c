import { GraphFailure } from './graph-failure.ts';
import { type Batch, nextBatch, oldestChange, release, sendBatch } from './lane.ts';
import {
  adjustedPace,
  bytesAt,
  FULL_WRITE_PACE,
  type PaceKind,
  slowerPace,
  type WritePace,
  waitOf,
} from './pace.ts';
import { isDelayed } from './unseen-changes.ts';
import {
  isSharedWithEdits,
  noteChange,
  noteProgress,
  noteTrouble,
  settle,
  type WriterState,
  type WriteTrouble,
} from './writer-state.ts';

/**
 * The backlog has one worker more than requests, which makes the documents of the next request. While writes wait, the backlog has one
 * small request, because writes would otherwise queue behind it.
 */
const WORKERS = 3;
const REQUESTS = { alone: 2, shared: 1 };
/** Milliseconds after which a throttled worker checks again. */
const LOOK_EVERY = 200;

type Backlog = {
  readonly state: WriterState;
  /** Requests in flight. */
  requests: number;
};

/** Writes the documents for which no write waits, of all targets together. Resolves when the writer stops. */
export async function writeBacklog(state: WriterState): Promise<void> {
  const backlog: Backlog = { state, requests: 0 };
  await Promise.all(Array.from({ length: WORKERS }, (_, number) => runWorker(backlog, number)));
}

async function runWorker(backlog: Backlog, number: number): Promise<void> {
  const { state } = backlog;
  const name = `backlog ${number}`;
  let pace: WritePace = FULL_WRITE_PACE;
  const slowDown = async ({ reason, isSuspected }: WriteTrouble): Promise<void> => {
    if (!isSuspected) noteTrouble(state, name, reason);
    // Other workers may take the unwritten documents again, at any position.
    state.turn = undefined;
    pace = slowerPace(pace);
    await state.changed.until(() => state.stopping, waitOf(pace));
  };
  while (!state.stopping) {
    const seen = state.wakes;
    const hasMore = () => state.stopping || state.wakes !== seen;
    const kind: PaceKind = isSharedWithEdits(state) ? 'shared' : 'backlog';
    if (kind === 'shared' && number > REQUESTS.shared) {
      noteProgress(state, name);
      await (state.stale.oldest('backlog') === undefined
        ? state.changed.until(hasMore)
        : state.changed.until(() => state.stopping, LOOK_EVERY));
      continue;
    }
    try {
      const result = await workOnce(backlog, bytesAt(pace, kind));
      if (result !== 'nothing' && result.trouble !== undefined) {
        await slowDown(result.trouble);
        continue;
      }
      noteProgress(state, name);
      if (result === 'nothing') await state.changed.until(hasMore);
      else pace = adjustedPace(pace, kind, result.bytes, result.took);
    } catch (error) {
      if (error instanceof GraphFailure) throw error.cause;
      await slowDown({ reason: (error as Error).message, isSuspected: false });
    }
  }
}

/** Outcome of one request. */
type Worked = { readonly trouble: WriteTrouble | undefined; readonly bytes: number; readonly took: number };

const NOT_SENT: Worked = Object.freeze({ trouble: undefined, bytes: 0, took: 0 });

/** Sends one request; none if there is nothing to write. */
async function workOnce(backlog: Backlog, bytes: number): Promise<'nothing' | Worked> {
  const { state } = backlog;
  const next = await nextBatch(state, 'backlog', bytes);
  if (next === undefined) return finish(state);
  const { batch, unmakable } = next;
  const { documents, position } = batch;
  try {
    settle(state, position, unmakable);
    if (documents.length === 0) return NOT_SENT;
    const worked = await sendInTurn(backlog, batch);
    await state.refreshes.refreshNowAndThen(isDelayed(state));
    return worked;
  } finally {
    state.index.release(batch.sent);
    release(state, [...documents, ...unmakable.map(({ document }) => document)], position);
    noteChange(state);
  }
}

async function sendInTurn(backlog: Backlog, batch: Batch): Promise<Worked> {
  const { state } = backlog;
  const isFree = () => backlog.requests < (isSharedWithEdits(state) ? REQUESTS.shared : REQUESTS.alone);
  // If several workers wake together, the first one continues.
  while (!isFree()) await state.changed.until(isFree);
  backlog.requests++;
  const started = performance.now();
  try {
    const { settled, again, failed } = await sendBatch(state, batch, false);
    const took = performance.now() - started;
    state.refreshes.written(oldestChange(batch.documents), settled.length);
    settle(state, batch.position, settled);
    const trouble =
      again === undefined ? undefined : { reason: again, isSuspected: await state.suspects.take(failed) };
    return { trouble, bytes: batch.bytes, took };
  } finally {
    backlog.requests--;
    state.changed.check();
  }
}

/** Handles an empty backlog: makes its documents visible, and wakes callers that wait for this. */
async function finish(state: WriterState): Promise<'nothing'> {
  if (state.refreshes.oldest() === undefined) return 'nothing';
  await state.refreshes.refresh();
  noteChange(state);
  return 'nothing';
}
