import type { Server } from 'node:http';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import { type ListeningSocket, ownSocket, startListening } from '../http/listening-socket.ts';
import type { Answer, FromWorker, Hello, LogStyle, SocketName, ToWorker, WorkerRequest } from './protocol.ts';

/** The supervisor of this process, which is a worker. */
export type Supervisor = Hello & {
  readonly pid: number;
  /** The supervisor's listening socket of this name, for an HTTP server of this process. */
  socket(name: SocketName): (server: Server) => ListeningSocket;
  /** Has the supervisor take the data directory. Rejects with a sentence when another process has it. */
  lock(directory: string, channel: OperatorChannel): Promise<void>;
  /** Another worker is started when this one crashes from now on. */
  serving(log: LogStyle): void;
  /** The greeting is about to be printed: no later worker prints it. */
  greeting(): void;
  /** Calls back when the supervisor was told to stop. Before that, this process ends at once. */
  onStop(stop: (signal: NodeJS.Signals) => void): void;
};

/** `socket`: the listening socket, where one was asked for. */
type Answered = { readonly answer: Answer; readonly socket: object | undefined };

let isWorkerProcess = false;

/** Returns whether this process has a supervisor. */
export function isWorker(): boolean {
  return isWorkerProcess;
}

/**
 * Makes this process a worker that obeys only its supervisor: Ctrl-C and some service managers signal every process of
 * a server. It ends with its supervisor; otherwise the next start would find the data directory in use.
 */
export function becomeWorker(): void {
  isWorkerProcess = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  process.once('disconnect', () => process.exit(1));
  if (!process.connected) process.exit(1);
}

/** Resolves after the supervisor has sent the worker's start data. */
export async function connectSupervisor(): Promise<Supervisor> {
  const answers = new Map<number, (answer: Answered) => void>();
  const hello = Promise.withResolvers<Hello>();
  let lastId = 0;
  // Until there is something to close.
  let stop: (signal: NodeJS.Signals) => void = () => process.exit(0);

  const ask = async (request: WorkerRequest): Promise<Answered> => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<Answered>();
    answers.set(id, resolve);
    send({ kind: 'ask', id, request });
    const { answer, socket } = await promise;
    if (answer.kind === 'refused') throw Object.assign(new Error(answer.error.message), answer.error);
    return { answer, socket };
  };

  const hear = (message: ToWorker, socket: object | undefined) => {
    switch (message.kind) {
      case 'hello':
        hello.resolve(message);
        return;
      case 'answer':
        answers.get(message.id)?.({ answer: message.result, socket });
        answers.delete(message.id);
        return;
      case 'stop':
        stop(message.signal);
    }
  };

  process.on('message', (message, socket) => hear(message as ToWorker, socket as object | undefined));
  const said = await hello.promise;
  return {
    ...said,
    pid: process.ppid,
    socket: (name) => (server) => {
      const { close } = ownSocket(server);
      return {
        async open({ host, port }) {
          const { socket = {} } = await ask({ kind: 'listen', socket: name, host, port });
          return startListening(server, socket);
        },
        async close() {
          await ask({ kind: 'close', socket: name });
          return close();
        },
      };
    },
    async lock(directory, channel) {
      await ask({ kind: 'lock', directory, channel });
    },
    serving: (log) => send({ kind: 'serving', log }),
    greeting: () => send({ kind: 'greeting' }),
    onStop(called) {
      stop = called;
    },
  };
}

function send(message: FromWorker): void {
  // Without its supervisor this process is ending.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
