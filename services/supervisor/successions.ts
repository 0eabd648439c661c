import { setImmediate as nextTurn } from 'node:timers/promises';
import { type HandOverEnd, handOver, within } from './hand-over.ts';
import type { Abandoned, Succession } from './protocol.ts';
import type { WorkerEnd, WorkerProcess } from './worker-process.ts';

/** Hand-overs from the serving worker to another one. They run one after the other. */
export type Successions = ReturnType<typeof createSuccessions>;

export type SuccessionsOptions = {
  readonly serving: () => WorkerProcess | undefined;
  readonly isStopping: () => boolean;
  /** Milliseconds that a worker has for its last requests. */
  readonly drainMs: () => number;
  readonly start: (succession: Succession) => WorkerProcess;
  /** Ends the reading workers. Resolves when none of them answers by itself. */
  readonly retireReaders: () => Promise<void>;
  /** The next worker serves. */
  readonly entered: (from: WorkerProcess, next: WorkerProcess) => void;
  /** No worker serves any more. */
  readonly lost: () => void;
};

/** An ending worker is killed if it still runs this long after its time for last requests. */
export const AFTER_DRAIN_MS = 5_000;

/** Creates the state without a hand-over. */
export function createSuccessions(options: SuccessionsOptions) {
  const failures = new WeakMap<WorkerProcess, string>();
  let isSwitching = false;
  let switched: Promise<void> | undefined;
  /** Resolves when the last hand-over is over and the worker that served before has ended. */
  let last: Promise<void> | undefined;
  let retiring: WorkerProcess | undefined;
  /** The worker that prepares to serve, while its hand-over can still be abandoned. */
  let preparing: WorkerProcess | undefined;
  /** Generation of the last hand-over. */
  let wanted: number | undefined;

  /** Hand-overs wait for each other: a worker must not open a generation before the worker that had it open has ended. */
  async function replace(from: WorkerProcess, succession: Succession): Promise<void> {
    while (last !== undefined) await last;
    if (from !== options.serving() || options.isStopping()) throw new Error('this process no longer serves');
    const over = Promise.withResolvers<void>();
    last = over.promise;
    const next = options.start(succession);
    preparing = next;
    wanted = succession.generation;
    let nextEnd: WorkerEnd | undefined;
    // Never rejects: the end of a worker only resolves.
    void next.ended.then((end) => {
      nextEnd = end;
    });
    const switching = Promise.withResolvers<void>();
    const ended = await handOver(from, next, succession.enterMs, async () => {
      if (options.isStopping()) return false;
      preparing = undefined;
      isSwitching = true;
      switched = switching.promise;
      await options.retireReaders();
      return true;
    });
    preparing = undefined;
    if (ended === 'entered') {
      options.entered(from, next);
      isSwitching = false;
    }
    // Never rejects: it sends messages and waits for ends.
    void retire(from, ended).then(() => {
      isSwitching = false;
      last = undefined;
      over.resolve();
    });
    switching.resolve();
    if (ended === 'entered') return;
    const reason = failures.get(next) ?? (ended === 'late' ? tooLate(succession) : endOf(nextEnd?.signal));
    throw new Error(`generation ${succession.generation} is not served: ${reason}`);
  }

  /** Ends the worker that served, unless it still serves. */
  async function retire(from: WorkerProcess, ended: HandOverEnd): Promise<void> {
    if (ended === 'refused') return;
    // No other worker answers requests: this one stops like a serving worker.
    const isLost = ended !== 'entered';
    if (isLost && options.isStopping()) return;
    retiring = from;
    // The answer to the worker's request must be sent before `stop`.
    await nextTurn();
    from.send({ kind: 'stop', reason: 'replaced' });
    if (options.isStopping()) from.send({ kind: 'hurry' });
    const drainMs = isLost ? 0 : options.drainMs();
    // When the server stops, this worker has the same time as the others.
    if (!(await within(drainMs + AFTER_DRAIN_MS, [from.ended])) && !options.isStopping()) from.kill();
    await from.ended;
    retiring = undefined;
    if (isLost && !options.isStopping()) options.lost();
  }

  return {
    /** Rejects with a message if the next worker does not serve afterwards. */
    replace,
    /** Ends the hand-over, if there is one to this generation. Throws a message if a worker has begun to step down. */
    async abandon({ generation = wanted, reason }: Abandoned): Promise<void> {
      if (generation !== wanted) return;
      if (isSwitching) throw new Error('the switch to the new generation has begun: it ends in a moment');
      if (preparing === undefined) return;
      failures.set(preparing, reason ?? 'the switch was cancelled');
      preparing.kill();
      await last;
    },
    /** A worker has said why it cannot serve. */
    failed: (worker: WorkerProcess, reason: string) => void failures.set(worker, reason),
    /** Returns true from the step-down of a worker until the next worker serves. Meanwhile the hand-over handles a lost worker. */
    isSwitching: () => isSwitching,
    /** Resolves when the next worker serves, or is lost, if a worker has begun to step down. */
    switched: async () => switched,
    /** The replaced worker that answers its last requests. */
    retiring: () => retiring,
  };
}

const NEXT = 'the process that should serve it';

function tooLate({ enterMs }: Succession): string {
  return `${NEXT} did not become ready within ${enterMs / 1_000} s: see the log of the server`;
}

/** Says how the next worker has ended, because no log has a line about a worker that was killed. */
function endOf(signal: NodeJS.Signals | null | undefined): string {
  if (typeof signal !== 'string') return `${NEXT} has ended: see the log of the server`;
  return `${NEXT} was ended by ${signal}, perhaps because memory was short`;
}
