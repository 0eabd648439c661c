import { createStreamCounts } from '../../shared/count-streams.ts';
import { codesOf } from '../../shared/sqlite/failures.ts';
import { announceDataDirectory, type DirectoryLock } from '../../shared/sqlite/lock-data-directory.ts';
import type { SocketHandle } from '../http/sockets/private-node.ts';
import { createSharedCounts } from './count-requests.ts';
import { type HeldSocket, holdSocket } from './held-socket.ts';
import type { MetricsOfWorkers } from './metrics-of-workers.ts';
import type { Answer, SocketName, Succession, WorkerRequest } from './protocol.ts';
import type { ReadingWorkers } from './reading-workers.ts';
import { type SharedSocket, shareConnections } from './share-connections.ts';
import type { Successions } from './successions.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Sockets and lock that a supervisor holds for its workers. */
export type WorkerHost = ReturnType<typeof answerWorkers>;

type Answered = Promise<Answer & { readonly socket?: SocketHandle }>;

export type AnswerWorkersOptions = {
  /** Hands over from a worker to another one. */
  readonly replace: (from: WorkerProcess, succession: Succession) => Promise<void>;
  readonly successions: Pick<Successions, 'abandon'>;
  readonly reading: Pick<ReadingWorkers, 'join' | 'shown' | 'states'>;
  readonly metrics: Pick<MetricsOfWorkers, 'collect'>;
};

/** Creates the answers to requests of workers. An error becomes the answer `refused`. */
export function answerWorkers({ replace, successions, reading, metrics }: AnswerWorkersOptions) {
  const sockets = new Map<SocketName, HeldSocket>();
  const counts = createSharedCounts(Date.now);
  const streams = createStreamCounts<WorkerProcess>();
  let shared: SharedSocket | undefined;
  let lock: DirectoryLock | undefined;

  async function listening(request: Extract<WorkerRequest, { kind: 'listen' }>): Promise<SocketHandle> {
    const { socket: name } = request;
    const socket = sockets.get(name) ?? (await holdSocket(request));
    sockets.set(name, socket);
    return socket.handle;
  }

  async function carryOut(from: WorkerProcess, request: WorkerRequest): Answered {
    switch (request.kind) {
      case 'listen':
        return { kind: 'listening', socket: await listening(request) };
      case 'share':
        shared ??= await shareConnections(request);
        return { kind: 'sharing', ...shared.address };
      case 'accept':
        shared?.add(from);
        return { kind: 'done' };
      case 'leave':
        shared?.remove(from);
        return { kind: 'done' };
      case 'join':
        reading.join(from);
        return { kind: 'done' };
      case 'show':
        return done(reading.shown(BigInt(request.position)));
      case 'count':
        return { kind: 'counted', ...counts.add(request.key, request.windowMs) };
      case 'count-stream':
        return { kind: 'counted-stream', reached: streams.add(from, request.caller, request.maximums) };
      case 'measure':
        return { kind: 'measured', metrics: await metrics.collect() };
      case 'readers':
        return { kind: 'readers', readers: reading.states() };
      case 'close':
        sockets.get(request.socket)?.close();
        return { kind: 'done' };
      case 'lock':
        lock ??= announceDataDirectory(request.directory, request.channel);
        return { kind: 'done' };
      case 'abandon':
        return done(successions.abandon(request));
      case 'hand-over':
        return done(replace(from, request));
    }
  }

  return {
    releaseLock: () => lock?.release(),
    /** The socket whose connections the workers share, if there is one. */
    shared: () => shared,
    /** A counted stream of a caller has ended; without a caller, all streams of the worker have ended or are about to. */
    endedStream(worker: WorkerProcess, caller?: string): void {
      if (caller === undefined) streams.clear(worker);
      else streams.remove(worker, caller);
    },
    async answer(from: WorkerProcess, request: WorkerRequest): Answered {
      try {
        return await carryOut(from, request);
      } catch (error) {
        return { kind: 'refused', error: { message: (error as Error).message, ...codesOf(error) } };
      }
    },
  };
}

async function done(work: Promise<void>): Promise<Answer> {
  await work;
  return { kind: 'done' };
}
