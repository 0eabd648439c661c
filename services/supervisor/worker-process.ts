import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import type { SocketHandle } from './held-socket.ts';
import { type FromWorker, type ToWorker, WORKER_ARGUMENT } from './protocol.ts';

export type WorkerProcess = {
  readonly pid: number | undefined;
  /** Does nothing when the worker is ending: a send that fails must not end the supervisor. */
  send(message: ToWorker, socket?: SocketHandle): void;
  kill(): void;
  /** Resolves when it has ended and every message that it sent has been heard. */
  readonly ended: Promise<WorkerEnd>;
};

export type WorkerEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Runs `program` with Node's options of this process. They share their output. */
export function startWorker(
  program: string,
  args: readonly string[],
  hear: (message: FromWorker) => void,
): WorkerProcess {
  const child = fork(program, [WORKER_ARGUMENT, ...args], { stdio: 'inherit' });
  child.on('message', (message) => hear(message as FromWorker));
  child.on('error', (error) => {
    if (child.pid === undefined) console.error(`the worker cannot be started: ${error.message}`);
  });
  return {
    pid: child.pid,
    send(message, socket) {
      if (!child.connected) return;
      child.send(message, socket as unknown as SendHandle, {}, () => {});
    },
    kill: () => void child.kill('SIGKILL'),
    ended: endOf(child),
  };
}

async function endOf(child: ChildProcess): Promise<WorkerEnd> {
  const disconnected = new Promise((resolve) => child.once('disconnect', resolve));
  const end = await new Promise<WorkerEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => {
      if (child.pid === undefined) resolve({ code: 1, signal: null });
    });
  });
  if (child.connected) await disconnected;
  return end;
}
