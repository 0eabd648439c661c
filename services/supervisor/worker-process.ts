import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import { onLostSocket, type SocketHandle } from '../http/sockets/private-node.ts';
import {
  type FromWorker,
  type HandOverStep,
  type NextWorker,
  STEPS,
  type ToWorker,
  WORKER_ARGUMENT,
} from './protocol.ts';

export type WorkerProcess = {
  readonly pid: number | undefined;
  /** Does nothing if the worker is ending, because a failed send must not end the supervisor. */
  send(message: ToWorker, socket?: SocketHandle): void;
  kill(): void;
  /** A step resolves when the worker has said that the step is done. `ready` may name the worker for other processes. */
  readonly steps: Readonly<Record<HandOverStep, Promise<NextWorker | undefined>>>;
  /** Returns the number of messages that the worker has sent. */
  messages(): number;
  /** Resolves when the worker has ended and all its messages have been handled. */
  readonly ended: Promise<WorkerEnd>;
};

export type WorkerEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Every message of a worker but its steps. `lost`: the socket that was sent to it has not arrived, since it may open no more files. */
export type WorkerMessage =
  | Exclude<FromWorker, { readonly kind: HandOverStep | 'preparing' }>
  | { readonly kind: 'lost' };

/** Runs `program` with this process's Node options and output. */
export function startWorker(
  program: string,
  args: readonly string[],
  hear: (message: WorkerMessage) => void,
): WorkerProcess {
  const child = fork(program, [WORKER_ARGUMENT, ...args], { stdio: 'inherit' });
  const steps = { ready: newStep(), yielded: newStep(), entered: newStep() };
  let messages = 0;
  child.on('message', (message: FromWorker) => {
    messages++;
    if (message.kind === 'preparing') return;
    if (isStep(message)) steps[message.kind].resolve('next' in message ? message.next : undefined);
    else hear(message as WorkerMessage);
  });
  onLostSocket(child, () => hear({ kind: 'lost' }));
  child.on('error', (error) => {
    if (child.pid === undefined) console.error(`the worker cannot be started: ${error.message}`);
  });
  return {
    pid: child.pid,
    send(message, socket) {
      if (!child.connected) return;
      child.send(message, socket as unknown as SendHandle, {}, () => {});
    },
    messages: () => messages,
    kill: () => void child.kill('SIGKILL'),
    steps: {
      ready: steps.ready.promise,
      yielded: steps.yielded.promise,
      entered: steps.entered.promise,
    },
    // Never rejects.
    ended: endOf(child),
  };
}

function newStep() {
  return Promise.withResolvers<NextWorker | undefined>();
}

function isStep(message: FromWorker): message is Extract<FromWorker, { readonly kind: HandOverStep }> {
  return STEPS.some((step) => step === message.kind);
}

/** Waits for the event `close`: `disconnect` does not come for a worker that ends with a socket on its way to it. */
function endOf(child: ChildProcess): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('error', () => {
      if (child.pid === undefined) resolve({ code: 1, signal: null });
    });
  });
}
