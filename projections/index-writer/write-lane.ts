import type { Settlement } from '../graph/stale/stale-documents.ts';
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
  /** Targets that are being written, or that wait after a failure. The other lanes see those of copies. */
  readonly busy: Map<string, Target>;
  readonly paces: Map<string, WritePace>;
  /** Requests that count. */
  requests: number;
};

/** Writes the documents of a lane for which writes wait. Each target is written on its own. Resolves when the writer stops. */
export async function writeLane(state: WriterState, lane: AwaitedLane): Promise<void> {
  const busy = lane === 'copies' ? state.copying : new Map<string, Target>();
  const running: RunningLane = { state, lane, busy, paces: new Map(), requests: 0 };
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
  const except = [...busy.values(), ...(lane === 'copies' ? state.whole.targets() : [])];
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

/** Most requests for the edits of a target that become visible together. */
const MOST_TOGETHER = 32;

/**
 * Sends the next documents of a target. Those of edits that one request cannot have become visible by one refresh: the graph has all of a
 * command, such as a release, and searches must not see a part of it.
 */
async function writeOnce(
  running: RunningLane,
  target: Target,
  pace: WritePace,
): Promise<WriteTrouble | undefined> {
  const { state, lane } = running;
  const parts: Part[] = [];
  let isCut = false;
  try {
    do {
      const next = await nextBatch(state, lane, bytesAt(pace, lane), target);
      if (next === undefined) break;
      const part: Part = { ...next, settled: [] };
      parts.push(part);
      settle(state, part.batch.position, part.unmakable);
      isCut =
        lane === 'edits' && parts.length < MOST_TOGETHER && isCutAt(running, target, part.batch.position);
      if (isCut && parts.length === 1) await state.whole.begin(target);
      const trouble = await writePart(running, target, part, !isCut && parts.length === 1);
      if (trouble !== undefined) return trouble;
    } while (isCut);
    if (parts.length > 1) await state.index.refresh(target);
    for (const { batch, settled } of parts) settle(state, batch.position, settled);
    return undefined;
  } finally {
    if (lane === 'edits') state.whole.end(target);
    for (const { batch, unmakable } of parts) {
      state.index.release(batch.sent);
      release(state, [...batch.documents, ...unmakable.map(({ document }) => document)], batch.position);
    }
    noteChange(state);
  }
}

type Part = NonNullable<Awaited<ReturnType<typeof nextBatch>>> & { settled: readonly Settlement[] };

/** Returns whether a target has other documents that lack a change up to a position. */
function isCutAt({ state, lane }: RunningLane, target: Target, position: bigint): boolean {
  const [oldest] = onGraph(() => state.stale.next(lane, 1, state.taken, { only: target }));
  return oldest !== undefined && oldest.since <= Number(position);
}

/** Sends one request. If it fails in part, `settled` has what is settled at once, and the rest is sent again. */
async function writePart(
  running: RunningLane,
  target: Target,
  part: Part,
  refresh: boolean,
): Promise<WriteTrouble | undefined> {
  const { state, lane, paces } = running;
  const { batch } = part;
  if (batch.documents.length === 0) return undefined;
  state.lastPrompt = performance.now();
  const started = performance.now();
  const { settled, again, failed } = await sendBatch(state, batch, refresh);
  part.settled = settled;
  if (again === undefined) {
    const pace = paces.get(nameOf(running, target)) ?? FULL_WRITE_PACE;
    paces.set(nameOf(running, target), adjustedPace(pace, lane, batch.bytes, performance.now() - started));
    return undefined;
  }
  if (refresh) settle(state, batch.position, settled);
  return { reason: again, isSuspected: await state.suspects.take(failed) };
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
