import { randomBytes } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { answerWorkers, type WorkerHost } from './answer-workers.ts';
import { createMetricsOfWorkers, type MetricsOfWorkers } from './metrics-of-workers.ts';
import {
  COMPATIBILITY,
  FINAL_EXIT,
  type Hello,
  type LogStyle,
  RESTART_EXIT,
  type Succession,
  type WorkerRequest,
} from './protocol.ts';
import { createReadingWorkers, type ReadingWorkers } from './reading-workers.ts';
import { createRenewals, type Renewals } from './renewals.ts';
import { countLoss, restartDelay } from './restart-delay.ts';
import { stopWorkers } from './stop-workers.ts';
import { AFTER_DRAIN_MS, createSuccessions, type Successions } from './successions.ts';
import { startWorker, type WorkerEnd, type WorkerMessage, type WorkerProcess } from './worker-process.ts';

export type SuperviseOptions = {
  /** The program that runs as worker, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** A worker that served has ended. */
  readonly reportCrash: (end: WorkerEnd, log: LogStyle) => void;
};

/** State of a server. Only this file changes it. */
type Server = SuperviseOptions & {
  readonly secret: string;
  readonly reading: ReadingWorkers;
  readonly metrics: MetricsOfWorkers;
  readonly successions: Successions;
  readonly requests: WorkerHost;
  readonly renewals: Renewals;
  /** Running workers. */
  readonly workers: Set<WorkerProcess>;
  /** The worker that serves, or prepares to. */
  serving: WorkerProcess | undefined;
  /** Time at which that worker began to serve, by `performance.now()`. */
  servedSince: number | undefined;
  /** Log format and drain time that the last serving worker has reported. */
  style: { readonly log: LogStyle; readonly drainMs: number } | undefined;
  isGreeted: boolean;
  isStopping: boolean;
  restarts: number;
  /** Number of workers that ended in a row, each soon after its start. */
  losses: number;
  /** Exit code of the worker that served when the server was stopped. */
  exitCode: number;
};

/**
 * Runs a server as a worker process. Starts another worker after a crash, and replaces a worker that asks for a hand-over. Owns what has to
 * outlive a worker: the listening sockets, the lock of the data directory, and signals. Ends with the worker's exit code if the worker ends
 * before it has served, has said why it cannot continue, or was stopped.
 */
export function supervise(options: SuperviseOptions): void {
  const server = createServer(options);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(server, signal));
  process.on('SIGHUP', () => {
    // Closing a terminal ends the programs in it.
    if (process.stdout.isTTY) stop(server, 'SIGHUP');
    else server.renewals.want();
  });
  startServing(server);
}

function createServer(options: SuperviseOptions): Server {
  const isStopping = () => server.isStopping;
  const drainMs = () => drainMsOf(server);
  const reading = createReadingWorkers({
    start: (follows) => start(server, { follows }),
    reportCrash: (end) => report(server, end),
    isStopping,
    drainMs,
  });
  const metrics = createMetricsOfWorkers(() =>
    server.serving === undefined ? reading.all() : [server.serving, ...reading.all()],
  );
  const successions = createSuccessions({
    start: (succession) => start(server, { succession }),
    serving: () => server.serving,
    retireReaders: reading.retire,
    entered: (from, next) => enter(server, from, next),
    lost() {
      server.restarts++;
      startServing(server);
    },
    isStopping,
    drainMs,
  });
  const server: Server = {
    ...options,
    secret: randomBytes(32).toString('base64url'),
    reading,
    metrics,
    successions,
    requests: answerWorkers({ replace: (...to) => replace(server, ...to), successions, reading, metrics }),
    renewals: createRenewals(() => (isStopping() ? undefined : server.serving)),
    workers: new Set(),
    serving: undefined,
    servedSince: undefined,
    style: undefined,
    isGreeted: false,
    isStopping: false,
    restarts: 0,
    losses: 0,
    exitCode: 0,
  };
  return server;
}

function replace(
  { renewals, successions }: Server,
  from: WorkerProcess,
  succession: Succession,
): Promise<void> {
  return renewals.after(successions.replace(from, succession));
}

function drainMsOf({ style }: Server): number {
  return style?.drainMs ?? 0;
}

function start(server: Server, task: Pick<Hello, 'succession' | 'follows'> = {}): WorkerProcess {
  const { program, args, restarts, isGreeted, secret } = server;
  const started = startWorker(program, args, (message) => hear(server, started, message));
  server.workers.add(started);
  started.send({ kind: 'hello', compatibility: COMPATIBILITY, restarts, isGreeted, secret, ...task });
  // Never rejects: the end of a worker only resolves.
  void started.ended.then((ended) => lose(server, started, ended));
  return started;
}

function startServing(server: Server): void {
  server.serving = start(server);
  server.servedSince = undefined;
}

/** Records that the next worker serves instead of another. */
function enter(server: Server, from: WorkerProcess, next: WorkerProcess): void {
  server.serving = next;
  server.servedSince = performance.now();
  server.reading.left(from);
  server.requests.shared()?.remove(from);
  server.requests.shared()?.add(next);
}

function hear(server: Server, from: WorkerProcess, message: WorkerMessage): void {
  const { reading, metrics, successions, requests } = server;
  switch (message.kind) {
    case 'ask':
      // Never rejects: an error is the answer `refused`.
      void answer(server, from, message.id, message.request);
      return;
    case 'serving':
      serves(server, from, message);
      return;
    case 'alive':
      reading.heard(from, BigInt(message.position));
      return;
    case 'took':
    case 'lost':
      requests.shared()?.took(from);
      return;
    case 'left':
      reading.left(from);
      return;
    case 'ended-stream':
      requests.endedStream(from, message.caller);
      return;
    case 'measured':
      metrics.heard(from, message.id, message.metrics);
      return;
    case 'greeting':
      server.isGreeted = true;
      return;
    case 'unfinished':
      server.renewals.want();
      return;
    case 'failed':
      successions.failed(from, message.reason);
  }
}

function serves(server: Server, leading: WorkerProcess, said: WorkerMessage & { kind: 'serving' }): void {
  const { requests, reading, renewals, isStopping } = server;
  // The next start needs the same code, even if this process is killed.
  if (server.style === undefined) flushCompileCache();
  server.style = said;
  server.servedSince ??= performance.now();
  renewals.serves(leading);
  if (said.followers === undefined || isStopping) return;
  requests.shared()?.add(leading);
  reading.want(said.followers, leading);
}

async function answer(
  { requests }: Server,
  from: WorkerProcess,
  id: number,
  request: WorkerRequest,
): Promise<void> {
  const { socket, ...result } = await requests.answer(from, request);
  from.send({ kind: 'answer', id, result }, socket);
}

function lose(server: Server, lost: WorkerProcess, ended: WorkerEnd): void {
  const { workers, successions, requests } = server;
  workers.delete(lost);
  requests.endedStream(lost);
  const isServing = lost === server.serving;
  if (isServing) server.serving = undefined;
  if (server.isStopping) {
    if (isServing) server.exitCode = ended.code ?? 1;
    if (workers.size === 0) end(server, server.exitCode);
  } else if (isServing && !successions.isSwitching()) {
    endOrReplace(server, ended);
  }
}

function endOrReplace(server: Server, ended: WorkerEnd): void {
  if (ended.code === FINAL_EXIT) end(server, 1);
  if (ended.code === 0) end(server, 0);
  if (server.style === undefined && ended.code !== RESTART_EXIT) {
    if (ended.signal !== null) console.error(`the worker was ended by ${ended.signal}`);
    end(server, ended.code ?? 1);
  }
  report(server, ended);
  server.losses = countLoss(server.losses, server.servedSince);
  setTimeout(() => server.isStopping || startServing(server), restartDelay(server.losses));
}

/** Reports that a serving worker has ended and another will be started. */
function report(server: Server, ended: WorkerEnd): void {
  server.restarts++;
  if (server.style !== undefined) server.reportCrash(ended, server.style.log);
}

function stop(server: Server, signal: NodeJS.Signals): void {
  if (server.isStopping) killAll(server);
  server.isStopping = true;
  if (server.workers.size === 0) end(server, 0);
  setTimeout(() => killAll(server), drainMsOf(server) + AFTER_DRAIN_MS);
  // Never rejects: it sends messages and waits for ends.
  void stopWorkers(server, signal, drainMsOf(server));
}

function killAll(server: Server): never {
  for (const worker of server.workers) worker.kill();
  return end(server, 1);
}

function end({ requests }: Server, code: number): never {
  requests.releaseLock();
  process.exit(code);
}
