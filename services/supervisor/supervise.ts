import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerWorkers } from './answer-workers.ts';
import { type HandOverEnd, handOver, within } from './hand-over.ts';
import { createMetricsOfWorkers } from './metrics-of-workers.ts';
import {
  COMPATIBILITY,
  FINAL_EXIT,
  type Hello,
  type LogStyle,
  type Succession,
  type WorkerRequest,
} from './protocol.ts';
import { createReadingWorkers } from './reading-workers.ts';
import { restartDelay } from './restart-delay.ts';
import { startWorker, type WorkerEnd, type WorkerMessage, type WorkerProcess } from './worker-process.ts';

export type SuperviseOptions = {
  /** The program that runs as worker, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** A worker that served has ended. */
  readonly reportCrash: (end: WorkerEnd, log: LogStyle) => void;
};

/** A worker that served for so long did not end because of how it started. */
const SETTLED_MS = 60_000;
/** A worker that is to end is killed when it has not ended so long after its time to answer requests. */
const AFTER_DRAIN_MS = 5_000;
/** The leading worker begins to stop after this, although others answer requests yet. */
const READERS_STOP_MS = 1_000;

/**
 * Runs a server as a worker process, starts another when it crashes, and puts another in its place when it asks for that. Owns what
 * has to outlive a worker: the listening sockets, the lock of the data directory, and signals. Ends with the worker's exit code when
 * the worker ends before it has served, when it has said why it cannot continue, and when it was stopped.
 */
export function supervise({ program, args, reportCrash }: SuperviseOptions): void {
  const secret = randomBytes(32).toString('base64url');
  const reading = createReadingWorkers({
    start: (follows) => start({ follows }),
    reportCrash(end) {
      restarts++;
      if (style !== undefined) reportCrash(end, style.log);
    },
    isStopping: () => isStopping,
    drainMs: () => style?.drainMs ?? 0,
  });
  const metrics = createMetricsOfWorkers(() =>
    serving === undefined ? reading.all() : [serving, ...reading.all()],
  );
  const requests = answerWorkers({ replace, reading, metrics });
  /** Why workers could not take the place of the one that serves. */
  const failures = new WeakMap<WorkerProcess, string>();
  /** Those that run. */
  const workers = new Set<WorkerProcess>();
  /** The one that serves. */
  let serving: WorkerProcess | undefined;
  /** True from when the worker steps down until the next one serves: the hand-over then decides what a lost worker means. */
  let isSwitching = false;
  /** Resolves when the last hand-over is over and the worker that served before has ended. */
  let replacing: Promise<void> | undefined;
  let retiring: WorkerProcess | undefined;
  let style: { readonly log: LogStyle; readonly drainMs: number } | undefined;
  let servedSince: number | undefined;
  let isGreeted = false;
  let isStopping = false;
  let restarts = 0;
  let losses = 0;
  /** Exit code of the worker that served when the server was stopped. */
  let exitCode = 0;

  function end(code: number): never {
    requests.releaseLock();
    process.exit(code);
  }

  function start(task: Pick<Hello, 'succession' | 'follows'> = {}): WorkerProcess {
    const started = startWorker(program, args, (message) => hear(started, message));
    workers.add(started);
    started.send({ kind: 'hello', compatibility: COMPATIBILITY, restarts, isGreeted, secret, ...task });
    void started.ended.then((ended) => lose(started, ended));
    return started;
  }

  function startServing(): void {
    serving = start();
    servedSince = undefined;
  }

  function hear(from: WorkerProcess, message: WorkerMessage): void {
    switch (message.kind) {
      case 'ask':
        void answer(from, message.id, message.request);
        return;
      case 'serving':
        style = message;
        servedSince ??= performance.now();
        if (message.followers !== undefined && !isStopping) {
          requests.shared()?.add(from);
          reading.want(message.followers, from);
        }
        return;
      case 'alive':
        reading.heard(from, BigInt(message.position));
        return;
      case 'took':
        requests.shared()?.took(from);
        return;
      case 'left':
        reading.left(from);
        return;
      case 'measured':
        metrics.heard(message.id, message.metrics);
        return;
      case 'greeting':
        isGreeted = true;
        return;
      case 'failed':
        failures.set(from, message.reason);
    }
  }

  async function answer(from: WorkerProcess, id: number, request: WorkerRequest): Promise<void> {
    const { socket, ...result } = await requests.answer(from, request);
    from.send({ kind: 'answer', id, result }, socket);
  }

  /** One hand-over after the other: a generation must not be opened before the worker that had it open has ended. */
  async function replace(from: WorkerProcess, succession: Succession): Promise<void> {
    while (replacing !== undefined) await replacing;
    if (from !== serving || isStopping) throw new Error('this process no longer serves');
    const replaced = Promise.withResolvers<void>();
    replacing = replaced.promise;
    const next = start({ succession });
    const ended = await handOver(from, next, succession.enterMs, async () => {
      isSwitching = true;
      await reading.retire();
    });
    if (ended === 'entered') {
      serving = next;
      reading.left(from);
      requests.shared()?.remove(from);
      requests.shared()?.add(next);
      servedSince = performance.now();
      isSwitching = false;
    }
    void retire(from, ended).then(() => {
      isSwitching = false;
      replacing = undefined;
      replaced.resolve();
    });
    if (ended === 'entered') return;
    const reason =
      failures.get(next) ?? "the process that was to serve it has ended, and the server's log says why";
    throw new Error(`generation ${succession.generation} is not served: ${reason}`);
  }

  /** Ends the worker that served, unless it still serves. */
  async function retire(from: WorkerProcess, ended: HandOverEnd): Promise<void> {
    if (ended === 'refused') return;
    retiring = from;
    // After the answer to its request.
    await nextTurn();
    if (!isStopping) from.send({ kind: 'stop', reason: 'replaced' });
    const drainMs = ended === 'lost' ? 0 : (style?.drainMs ?? 0);
    // When the server stops, this worker has as long as any other.
    if (!(await within(drainMs + AFTER_DRAIN_MS, [from.ended])) && !isStopping) from.kill();
    await from.ended;
    retiring = undefined;
    if (ended === 'lost' && !isStopping) startServing();
  }

  function lose(lost: WorkerProcess, ended: WorkerEnd): void {
    workers.delete(lost);
    const isServing = lost === serving;
    if (isServing) serving = undefined;
    if (isStopping) {
      if (isServing) exitCode = ended.code ?? 1;
      if (workers.size === 0) end(exitCode);
    } else if (isServing && !isSwitching) {
      endOrReplace(ended);
    }
  }

  function endOrReplace(ended: WorkerEnd): void {
    if (ended.code === FINAL_EXIT) end(1);
    if (ended.code === 0) end(0);
    if (style === undefined) {
      if (ended.signal !== null) console.error(`the worker was ended by ${ended.signal}`);
      end(ended.code ?? 1);
    }
    crash(ended, style.log);
  }

  function crash(ended: WorkerEnd, log: LogStyle): void {
    reportCrash(ended, log);
    const isSettled = servedSince !== undefined && performance.now() - servedSince >= SETTLED_MS;
    losses = isSettled ? 1 : losses + 1;
    restarts++;
    setTimeout(() => isStopping || startServing(), restartDelay(losses));
  }

  function stop(signal: NodeJS.Signals): void {
    if (isStopping) killAll();
    isStopping = true;
    // Before the workers stop: a client whose connection ends would connect again.
    requests.shared()?.close();
    if (workers.size === 0) end(0);
    setTimeout(killAll, (style?.drainMs ?? 0) + AFTER_DRAIN_MS);
    void stopWorkers(signal);
  }

  /** The leading worker last: the others send it the writes of their last requests. */
  async function stopWorkers(signal: NodeJS.Signals): Promise<void> {
    const readers = reading.all();
    const retired = reading.retired();
    for (const worker of readers) worker.send({ kind: 'stop', reason: signal });
    if (readers.length > 0) await within(READERS_STOP_MS, [Promise.all(readers.map(({ ended }) => ended))]);
    for (const worker of workers) {
      // A replaced worker answers its last requests. One that gets ready has none.
      if (worker === retiring || readers.includes(worker) || retired.includes(worker)) continue;
      if (worker === serving || isSwitching) worker.send({ kind: 'stop', reason: signal });
      else worker.kill();
    }
  }

  function killAll(): never {
    for (const worker of workers) worker.kill();
    end(1);
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
  process.on('SIGHUP', () => {
    // Closing a terminal ends what was started there.
    if (process.stdout.isTTY) stop('SIGHUP');
    else serving?.send({ kind: 'renew' });
  });
  startServing();
}
