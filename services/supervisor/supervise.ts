import { randomBytes } from 'node:crypto';
import { announceDataDirectory, type DirectoryLock } from '../../shared/sqlite/lock-data-directory.ts';
import { type HeldSocket, holdSocket, type SocketHandle } from './held-socket.ts';
import {
  type Answer,
  FINAL_EXIT,
  type FromWorker,
  type LogStyle,
  type SentError,
  type SocketName,
  type WorkerRequest,
} from './protocol.ts';
import { restartDelay } from './restart-delay.ts';
import { startWorker, type WorkerEnd, type WorkerProcess } from './worker-process.ts';

export type SuperviseOptions = {
  /** The program that runs as worker, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** A worker that served has ended. */
  readonly reportCrash: (end: WorkerEnd, log: LogStyle) => void;
};

/** A worker that served for so long did not end because of how it started. */
const SETTLED_MS = 60_000;

/**
 * Runs a server as a worker process and starts another when it crashes. It owns everything that outlives a worker: the
 * listening sockets, the lock of the data directory, and signals. It ends with the worker's exit code if the worker
 * ends before it has served, has said why it cannot continue, or was told to stop.
 */
export function supervise({ program, args, reportCrash }: SuperviseOptions): void {
  const secret = randomBytes(32).toString('base64url');
  const sockets = new Map<SocketName, HeldSocket>();
  let lock: DirectoryLock | undefined;
  let log: LogStyle | undefined;
  let worker: WorkerProcess | undefined;
  let servedSince: number | undefined;
  let isGreeted = false;
  let isStopping = false;
  let restarts = 0;
  let losses = 0;

  function end(code: number): never {
    lock?.release();
    process.exit(code);
  }

  function start(): void {
    const started = startWorker(program, args, (message) => void hear(started, message));
    worker = started;
    servedSince = undefined;
    started.send({ kind: 'hello', restarts, isGreeted, secret });
    void started.ended.then(lose);
  }

  async function hear(from: WorkerProcess, message: FromWorker): Promise<void> {
    switch (message.kind) {
      case 'ask': {
        const { socket, ...result } = await answer(message.request);
        from.send({ kind: 'answer', id: message.id, result }, socket);
        return;
      }
      case 'serving':
        log = message.log;
        servedSince ??= performance.now();
        return;
      case 'greeting':
        isGreeted = true;
    }
  }

  async function answer(request: WorkerRequest): Promise<Answer & { readonly socket?: SocketHandle }> {
    try {
      switch (request.kind) {
        case 'listen': {
          const { socket: name } = request;
          const socket = sockets.get(name) ?? (await holdSocket(request));
          sockets.set(name, socket);
          return { kind: 'listening', socket: socket.handle };
        }
        case 'close':
          sockets.get(request.socket)?.close();
          return { kind: 'done' };
        case 'lock':
          lock ??= announceDataDirectory(request.directory, request.channel);
          return { kind: 'done' };
      }
    } catch (error) {
      const { message, code, errcode } = error as SentError;
      return { kind: 'refused', error: { message, code, errcode } };
    }
  }

  function lose(ended: WorkerEnd): void {
    worker = undefined;
    if (ended.code === FINAL_EXIT) end(1);
    if (isStopping || ended.code === 0) end(ended.code ?? 1);
    if (log === undefined) {
      if (ended.signal !== null) console.error(`the worker was ended by ${ended.signal}`);
      end(ended.code ?? 1);
    }
    reportCrash(ended, log);
    const isSettled = servedSince !== undefined && performance.now() - servedSince >= SETTLED_MS;
    losses = isSettled ? 1 : losses + 1;
    restarts++;
    setTimeout(() => isStopping || start(), restartDelay(losses));
  }

  function stop(signal: NodeJS.Signals): void {
    if (isStopping) {
      worker?.kill();
      end(1);
    }
    isStopping = true;
    if (worker === undefined) end(0);
    worker.send({ kind: 'stop', signal });
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
  start();
}
