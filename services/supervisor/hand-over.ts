import { valueWithin } from '../../shared/value-within.ts';
import { isPaused } from './is-paused.ts';
import type { WorkerProcess } from './worker-process.ts';

/**
 * End of a hand-over. `refused`: nothing has changed. `entered`: the next worker serves. `lost`: the next worker has ended after the serving
 * worker had stepped down. `late`: it was killed then, since it did not serve within its limit.
 */
export type HandOverEnd = 'refused' | 'entered' | 'lost' | 'late';

/** Limit for stepping down. The supervisor kills a worker that does not answer within it. */
const YIELD_MS = 5_000;

/** A worker that prepares is killed after this time without a sign of life. It may load much data in one step. */
const SILENT_LOOKS = 240;
/** A worker that a signal has stopped is killed sooner: it is not just busy. */
const PAUSED_LOOKS = 40;
const LOOK_MS = 250;

/**
 * Replaces the worker `from` by `next`. `next` opens its generation, applies the log and warms up while `from` serves. After `yielding`,
 * `from` steps down. Then `next` becomes leader and accepts connections, within `enterMs`. `yielding` may resolve with false to refuse.
 */
export async function handOver(
  from: WorkerProcess,
  next: WorkerProcess,
  enterMs: number,
  yielding: () => Promise<boolean>,
): Promise<HandOverEnd> {
  if (!(await isPrepared(from, next)) || !(await yielding())) {
    next.kill();
    return 'refused';
  }
  from.send({ kind: 'yield', next: await next.steps.ready });
  if (!(await within(YIELD_MS, [from.steps.yielded, from.ended]))) from.kill();
  next.send({ kind: 'enter' });
  let end: HandOverEnd = 'lost';
  const entered = next.steps.entered.then(() => {
    end = 'entered';
  });
  if (await within(enterMs, [entered, next.ended])) return end;
  next.kill();
  return 'late';
}

/**
 * Waits until `next` is ready. Returns false if one of the two has ended, or if `next` was killed because it gave no sign of life for a
 * minute, or was paused for 10 s.
 */
function isPrepared(from: WorkerProcess, next: WorkerProcess): Promise<boolean> {
  const ready = next.steps.ready.then(() => true);
  const endWatch = watchSigns(next);
  const ended = [next.ended, from.ended].map((end) => end.then(() => false));
  return Promise.race([ready, ...ended]).finally(endWatch);
}

/** Kills a worker that gives no sign of life, until the returned function is called. */
function watchSigns(worker: WorkerProcess): () => void {
  let [heard, silentLooks, pausedLooks] = [worker.messages(), 0, 0];
  // Counts checks instead of time: a supervisor that was itself stopped must not kill its workers.
  const timer = setInterval(() => {
    const isSilent = worker.messages() === heard;
    heard = worker.messages();
    silentLooks = isSilent ? silentLooks + 1 : 0;
    pausedLooks = isSilent && worker.pid !== undefined && isPaused(worker.pid) ? pausedLooks + 1 : 0;
    if (silentLooks > SILENT_LOOKS || pausedLooks > PAUSED_LOOKS) worker.kill();
  }, LOOK_MS);
  return () => clearInterval(timer);
}

/** Returns whether one of these resolves before the time is over. */
export async function within(ms: number, promises: readonly Promise<unknown>[]): Promise<boolean> {
  const first = Promise.race(promises.map((promise) => promise.then(() => true)));
  return (await valueWithin(ms, first)) ?? false;
}
