import { valueWithin } from '../../shared/value-within.ts';
import { enterIdleClass } from './idle-class.ts';
import type { WorkerProcess } from './worker-process.ts';

/**
 * End of a hand-over. `refused`: nothing has changed. `entered`: the next worker serves. `lost`: the next worker has ended, or was killed,
 * after the serving worker had stepped down.
 */
export type HandOverEnd = 'refused' | 'entered' | 'lost';

/** Limit for stepping down. The supervisor kills a worker that does not answer within it. */
const YIELD_MS = 5_000;

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
  await within(enterMs, [entered, next.ended]);
  if (end === 'lost') next.kill();
  return end;
}

/** Waits until `next` is ready. Meanwhile it uses the cores that `from` leaves idle. Returns false if one of the two has ended. */
function isPrepared(from: WorkerProcess, next: WorkerProcess): Promise<boolean> {
  const idleClass = next.pid === undefined ? undefined : enterIdleClass(next.pid);
  const ready = next.steps.ready
    .then(() => idleClass?.leave())
    .then(
      () => true,
      () => false,
    );
  return Promise.race([ready, ...[next.ended, from.ended].map((ended) => ended.then(() => false))]);
}

/** Returns whether one of these resolves before the time is over. */
export async function within(ms: number, promises: readonly Promise<unknown>[]): Promise<boolean> {
  const first = Promise.race(promises.map((promise) => promise.then(() => true)));
  return (await valueWithin(ms, first)) ?? false;
}
