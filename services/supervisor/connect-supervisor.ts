import type { Server } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import type { ListeningSocket } from '../http/sockets/listening-socket.ts';
import type {
  Abandoned,
  Followers,
  Hello,
  LogStyle,
  NextWorker,
  SocketName,
  StopReason,
  Succession,
  ToWorker,
} from './protocol.ts';
import { refuseIncompatible } from './protocol.ts';
import { createRotation, type Rotation } from './rotation.ts';
import { createSocketsOfWorker, type SocketsOfWorker } from './sockets-of-worker.ts';
import { createWorkerRequests, sendToSupervisor as send } from './worker-requests.ts';

/** Steps down for the worker that replaces this one. An older supervisor does not name it. */
type GiveWay = (next: NextWorker | undefined) => Promise<void>;

/** `elapsedMs`: milliseconds since the signal. */
export type StopHeard = (reason: StopReason, elapsedMs?: number) => void;

/** The supervisor of this process, which is a worker. */
export type Supervisor = Hello & {
  readonly pid: number;
  /** Returns the supervisor's listening socket of this name, for an HTTP server of this process. */
  socket(name: SocketName): (server: Server) => ListeningSocket;
  /**
   * Lets the supervisor lock the data directory. Rejects with a message if another process has locked it, with the code HELD_BY_COMMAND if
   * that is not a server.
   */
  lock(directory: string, channel: OperatorChannel): Promise<void>;
  /**
   * Says that this worker serves: another one is started if it crashes. `followers`: workers that answer reads next to it. Like `ready`,
   * first stores the code that V8 has compiled. Node itself does so at the end, but not of a process that is killed.
   */
  serving(log: LogStyle, drainMs: number, followers?: Followers): void;
  /** Part of this worker in the rotation of a server with several workers. */
  readonly rotation: Rotation;
  /** Reports that this worker prints the greeting, so that no later worker prints it. */
  greeting(): void;
  /**
   * Calls back when the supervisor stops, or another worker serves. Without a callback this process ends immediately. Calls `hurry` when the
   * supervisor stops after another worker serves.
   */
  onStop(stop: StopHeard, hurry: () => void): void;
  /** Hands over to another worker. Rejects with a message if that is not possible. */
  handOver(succession: Succession): Promise<void>;
  /** Ends a hand-over before this worker steps down. Rejects with a message after that. */
  abandon(abandoned: Abandoned): Promise<void>;
  /** Calls back when another worker is about to replace this one. That worker waits until `give` has resolved. */
  onYield(give: GiveWay): void;
  /** Calls back when the newly installed program should serve. */
  onRenew(renew: () => void): void;
  /** Says that this process ends before a rebuild that it has begun. The worker that replaces it is asked to renew. */
  unfinished(): void;
  /** Says that this worker, which replaces another one, is ready. Resolves when it should serve. */
  ready(next: NextWorker): Promise<void>;
  /** Resolves when this worker should serve. undefined: it replaces no other worker. */
  readonly turn: Promise<void> | undefined;
  /** Begins to accept connections. */
  enter(): Promise<void>;
  /** Reports that this worker cannot replace the other one. */
  fail(error: Error): void;
};

const PREPARING_EVERY_MS = 1_000;

let isWorkerProcess = false;

/** Returns whether this process has a supervisor. */
export function isWorker(): boolean {
  return isWorkerProcess;
}

/**
 * Makes this process obey its supervisor and ignore signals: Ctrl-C and some service managers signal every process of a server. The process
 * ends with its supervisor. Otherwise the next start would find the data directory in use.
 */
export function becomeWorker(): void {
  isWorkerProcess = true;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.once('disconnect', () => process.exit(1));
  if (!process.connected) process.exit(1);
}

/** Resolves with the supervisor's first message. */
export async function connectSupervisor(): Promise<Supervisor> {
  const requests = createWorkerRequests();
  const { ask, done } = requests;
  const rotation = createRotation({ ask, send });
  const sockets = createSocketsOfWorker(requests);
  const hello = Promise.withResolvers<Hello>();
  const turn = Promise.withResolvers<void>();
  // Until `onStop` is called there is nothing to close.
  let stop: StopHeard = () => process.exit(0);
  let hurry = (): void => {};
  let giveWay: GiveWay = async () => {};
  // A worker that serves earlier content types cannot renew until it serves the present ones.
  const renew = Promise.withResolvers<() => void>();

  const hear = (message: ToWorker, socket: object | undefined) => {
    switch (message.kind) {
      case 'hello':
        return hello.resolve(message);
      case 'answer':
        return requests.answered(message.id, { answer: message.result, socket });
      case 'yield':
        // Never rejects: a failure is printed.
        return void stepDown(() => giveWay(message.next));
      case 'renew':
        // Ends the process if a rebuild cannot even be begun: the next worker is asked again.
        return void renew.promise.then((begin) => begin());
      case 'enter':
        return turn.resolve();
      case 'connection':
        return rotation.connection(socket);
      case 'measure':
        return rotation.measure(message.id);
      case 'stop':
        if (message.reason !== 'replaced') sockets.release();
        return stop(message.reason, message.elapsedMs);
      case 'hurry':
        return hurry();
    }
  };
  process.on('message', (message, socket) => hear(message as ToWorker, socket as object | undefined));

  const said = await hello.promise;
  begin(said, sockets);
  return {
    ...said,
    pid: process.ppid,
    socket: sockets.socket,
    lock: (directory, channel) => done({ kind: 'lock', directory, channel }),
    rotation,
    serving(log, drainMs, followers) {
      flushCompileCache();
      send({ kind: 'serving', log, drainMs, followers });
    },
    greeting: () => send({ kind: 'greeting' }),
    onStop(called, hurried) {
      stop = called;
      hurry = hurried;
    },
    handOver: (succession) => done({ kind: 'hand-over', ...succession }),
    abandon: (abandoned) => done({ kind: 'abandon', ...abandoned }),
    onYield(called) {
      giveWay = called;
    },
    onRenew(called) {
      renew.resolve(called);
    },
    unfinished: () => send({ kind: 'unfinished' }),
    ready(next) {
      flushCompileCache();
      send({ kind: 'ready', next });
      return turn.promise;
    },
    turn: said.succession && turn.promise,
    async enter() {
      await sockets.start();
      send({ kind: 'entered' });
    },
    fail: ({ message }) => send({ kind: 'failed', reason: message }),
  };
}

/** Lets a worker that replaces another one accept no connection before its turn, and give signs of life until it ends. */
function begin({ compatibility, succession }: Hello, { wait }: SocketsOfWorker): void {
  refuseIncompatible(compatibility);
  if (succession === undefined) return;
  wait();
  setInterval(() => send({ kind: 'preparing' }), PREPARING_EVERY_MS).unref();
}

/** Reports to the supervisor in any case: if this process cannot step down, its lease ends when the process ends. */
async function stepDown(giveWay: () => Promise<void>): Promise<void> {
  try {
    await giveWay();
  } catch (error) {
    console.error(`this worker could not step down: ${(error as Error).message}`);
  }
  send({ kind: 'yielded' });
}

/** Returns whether this worker is the first one of its server: no other has answered before. */
export function isFirstWorker({
  restarts,
  succession,
}: Pick<Supervisor, 'restarts' | 'succession'>): boolean {
  return restarts === 0 && succession === undefined;
}
