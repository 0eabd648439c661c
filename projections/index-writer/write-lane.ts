import type { Lane, Target } from '../graph/stale/stale-rows.ts';
import { GraphFailure, onGraph } from './graph-failure.ts';
import { nextBatch, release, sendBatch } from './lane.ts';
import { adjustedPace, bytesAt, FULL_WRITE_PACE, slowerPace, type WritePace, waitOf } from './pace.ts';
import {
  end,
  noteChange,
  noteProgress,
  noteTrouble,
  settle,
  type WriterState,
  type WriteTrouble,
} from './writer-state.ts';

type AwaitedLane = Exclude<Lane, 'backlog'>;

/**
 * Maximum requests of a lane in flight, each to another target. A target has one at a time, and its next request takes everything that
 * arrived in the meantime. Copies have few, because edits share the cluster with them.
 */
const MOST_REQUESTS: Readonly<Record<AwaitedLane, number>> = { edits: 32, copies: 2 };
/** Milliseconds after which a request no longer counts: a node that hangs must not stop documents on other nodes. */
const SLOW = 2_000;

type RunningLane = {
  readonly state: WriterState;
  readonly lane: AwaitedLane;
  /** Targets that are being written, or that wait after a failure. */
  readonly busy: Map<string, Target>;
  readonly paces: Map<string, WritePace>;
  /** Requests that count. */
  requests: number;
};

/** Writes the documents of a lane for which writes wait. Each target is written on its own. Resolves when the writer stops. */
export async function writeLane(state: WriterState, lane: AwaitedLane): Promise<void> {
  const running: RunningLane = { state, lane, busy: new Map(), paces: new Map(), requests: 0 };
  const { busy } = running;
  let failure: GraphFailure | undefined;
  while (!state.stopping) {
    const seen = { wakes: state.wakes, busy: busy.size, requests: running.requests };
    const target = nextTarget(running);
    if (target === undefined) {
      const isSame = () =>
        state.wakes === seen.wakes && busy.size === seen.busy && running.requests === seen.requests;
      await state.changed.until(() => state.stopping || !isSame());
      continue;
    }
    const name = nameOf(running, target);
    busy.set(name, target);
    writeTarget(running, target)
      .catch((error: GraphFailure) => {
        failure = error;
        end(state);
      })
      .finally(() => {
        busy.delete(name);
        state.changed.check();
      });
  }
  await state.changed.until(() => busy.size === 0);
  if (failure !== undefined) throw failure.cause;
}

function nameOf({ lane }: RunningLane, { type, world }: Target): string {
  return `${lane} ${type} ${world}`;
}

/** Returns the target of the document that is stale for the longest time, among those that may be written now. */
function nextTarget({ state, lane, busy, requests }: RunningLane): Target | undefined {
  if (requests >= MOST_REQUESTS[lane]) return undefined;
  const except = [...busy.values()];
  const [oldest] = onGraph(() => state.stale.next(lane, 1, state.taken, { except }));
  return oldest;
}

/** Sends one request to a target. After a failure it waits, so that the target stays busy. Rejects with a GraphFailure only. */
async function writeTarget(running: RunningLane, target: Target): Promise<void> {
  const { state, paces } = running;
  const name = nameOf(running, target);
  const pace = paces.get(name) ?? FULL_WRITE_PACE;
  const free = takeRequest(running);
  let trouble: WriteTrouble | undefined;
  try {
    trouble = await writeOnce(running, target, pace);
  } catch (error) {
    if (error instanceof GraphFailure) throw error;
    trouble = { reason: (error as Error).message, isSuspected: false };
  } finally {
    free();
  }
  if (trouble === undefined) return noteProgress(state, name);
  if (!trouble.isSuspected) noteTrouble(state, name, trouble.reason);
  const slower = slowerPace(pace);
  paces.set(name, slower);
  await state.changed.until(() => state.stopping, waitOf(slower));
  const isLeft = onGraph(() => state.stale.next(running.lane, 1, state.taken, { only: target })).length > 0;
  if (!isLeft) noteProgress(state, name);
}

async function writeOnce(
  running: RunningLane,
  target: Target,
  pace: WritePace,
): Promise<WriteTrouble | undefined> {
  const { state, lane, paces } = running;
  const next = await nextBatch(state, lane, bytesAt(pace, lane), target);
  if (next === undefined) return undefined;
  const { batch, unmakable } = next;
  const { documents, position } = batch;
  state.lastPrompt = performance.now();
  try {
    settle(state, position, unmakable);
    if (documents.length === 0) return undefined;
    const started = performance.now();
    const { settled, again, failed } = await sendBatch(state, batch, true);
    settle(state, position, settled);
    if (again !== undefined) return { reason: again, isSuspected: await state.suspects.take(failed) };
    paces.set(nameOf(running, target), adjustedPace(pace, lane, batch.bytes, performance.now() - started));
    return undefined;
  } finally {
    state.index.release(batch.sent);
    release(state, [...documents, ...unmakable.map(({ document }) => document)], position);
    noteChange(state);
  }
}

/** Counts a request until the returned function is called, or until it is slow. */
function takeRequest(running: RunningLane): () => void {
  const { state } = running;
  let isCounted = true;
  running.requests++;
  const free = (): void => {
    clearTimeout(timer);
    if (!isCounted) return;
    isCounted = false;
    running.requests--;
    state.changed.check();
  };
  const timer = setTimeout(free, SLOW);
  return free;
}
