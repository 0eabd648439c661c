import type { Server } from 'node:http';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import {
  addressOf,
  type ListeningSocket,
  ownSocket,
  startListening,
} from '../http/sockets/listening-socket.ts';
import type {
  Answer,
  Followers,
  FromWorker,
  Hello,
  LogStyle,
  SocketName,
  StopReason,
  Succession,
  ToWorker,
  WorkerRequest,
} from './protocol.ts';
import { refuseIncompatible } from './protocol.ts';
import { createRotation, type Rotation } from './rotation.ts';

/** The supervisor of this process, which is a worker. */
export type Supervisor = Hello & {
  readonly pid: number;
  /** The supervisor's listening socket of this name, for an HTTP server of this process. */
  socket(name: SocketName): (server: Server) => ListeningSocket;
  /** Has the supervisor take the data directory. Rejects with a sentence when another process has it. */
  lock(directory: string, channel: OperatorChannel): Promise<void>;
  /** Another worker is started when this one crashes from now on. `followers`: workers that answer reads next to this one. */
  serving(log: LogStyle, drainMs: number, followers?: Followers): void;
  /** For a server with several workers. */
  readonly rotation: Rotation;
  /** The greeting is about to be printed: no later worker prints it. */
  greeting(): void;
  /** Calls back when the supervisor stops, or another worker serves. Before, this process ends at once. */
  onStop(stop: (reason: StopReason) => void): void;
  /** Has another worker take the place of this one. Rejects with a sentence when that cannot be. */
  handOver(succession: Succession): Promise<void>;
  /** Calls back when another worker is about to take the place of this one, which waits until `give` has resolved. */
  onYield(give: () => Promise<void>): void;
  /** Calls back when the program that is installed by now is to serve. */
  onRenew(renew: () => void): void;
  /** In a worker that takes another's place: says that it could serve, and resolves when it is to. */
  ready(): Promise<void>;
  /** The same without saying anything. undefined: this worker takes no other's place. */
  readonly turn: Promise<void> | undefined;
  /** Accepts connections from now on. */
  enter(): Promise<void>;
  /** This process cannot take the other's place. */
  fail(error: Error): void;
};

/** `socket`: the listening socket, where one was asked for. */
type Answered = { readonly answer: Answer; readonly socket: object | undefined };

let isWorkerProcess = false;

/** Returns whether this process has a supervisor. */
export function isWorker(): boolean {
  return isWorkerProcess;
}

/**
 * Makes this process one that does what its supervisor says: Ctrl-C and some service managers signal every process of a server.
 * It ends with its supervisor, as the next start would find the data directory in use.
 */
export function becomeWorker(): void {
  isWorkerProcess = true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.once('disconnect', () => process.exit(1));
  if (!process.connected) process.exit(1);
}

/** Resolves once the supervisor has said what this process has to know. */
export async function connectSupervisor(): Promise<Supervisor> {
  const answers = new Map<number, (answer: Answered) => void>();
  const hello = Promise.withResolvers<Hello>();
  const turn = Promise.withResolvers<void>();
  /** Start to listen once another worker's place is taken. */
  const listeners = new Set<() => Promise<unknown>>();
  let lastId = 0;
  let isReplaced = false;
  // Until there is something to close.
  let stop: (reason: StopReason) => void = () => process.exit(0);
  let giveWay = async (): Promise<void> => {};
  let renew = (): void => {};

  const ask = async (request: WorkerRequest): Promise<Answered> => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<Answered>();
    answers.set(id, resolve);
    send({ kind: 'ask', id, request });
    const { answer, socket } = await promise;
    if (answer.kind === 'refused') throw Object.assign(new Error(answer.error.message), answer.error);
    return { answer, socket };
  };

  const rotation = createRotation({ ask, send });
  const hear = (message: ToWorker, socket: object | undefined) => {
    switch (message.kind) {
      case 'hello':
        hello.resolve(message);
        return;
      case 'answer':
        answers.get(message.id)?.({ answer: message.result, socket });
        answers.delete(message.id);
        return;
      case 'yield':
        // If this process cannot step down, its lease ends with it.
        giveWay().finally(() => send({ kind: 'yielded' }));
        return;
      case 'renew':
        renew();
        return;
      case 'enter':
        turn.resolve();
        return;
      case 'connection':
        rotation.connection(socket);
        return;
      case 'measure':
        rotation.measure(message.id);
        return;
      case 'stop':
        isReplaced = message.reason === 'replaced';
        stop(message.reason);
    }
  };

  process.on('message', (message, socket) => hear(message as ToWorker, socket as object | undefined));
  const said = await hello.promise;
  refuseIncompatible(said.compatibility);
  let waits = said.succession !== undefined;
  return {
    ...said,
    pid: process.ppid,
    socket: (name) => (server) => {
      const { close } = ownSocket(server);
      return {
        async open({ host, port }) {
          const { socket = {} } = await ask({ kind: 'listen', socket: name, host, port });
          const start = () => startListening(server, socket);
          if (!waits) return start();
          listeners.add(start);
          return addressOf(socket);
        },
        async close() {
          if (!waits && !isReplaced) await ask({ kind: 'close', socket: name });
          return close();
        },
      };
    },
    async lock(directory, channel) {
      await ask({ kind: 'lock', directory, channel });
    },
    rotation,
    serving: (log, drainMs, followers) => send({ kind: 'serving', log, drainMs, followers }),
    greeting: () => send({ kind: 'greeting' }),
    onStop(called) {
      stop = called;
    },
    async handOver(succession) {
      await ask({ kind: 'hand-over', ...succession });
    },
    onYield(called) {
      giveWay = called;
    },
    onRenew(called) {
      renew = called;
    },
    ready() {
      send({ kind: 'ready' });
      return turn.promise;
    },
    turn: said.succession && turn.promise,
    async enter() {
      waits = false;
      for (const start of listeners) await start();
      send({ kind: 'entered' });
    },
    fail: ({ message }) => send({ kind: 'failed', reason: message }),
  };
}

function send(message: FromWorker): void {
  // Without its supervisor this process is ending.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
