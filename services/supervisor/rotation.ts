import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { StreamCounts } from '../../shared/count-streams.ts';
import type { ListeningSocket } from '../http/sockets/listening-socket.ts';
import { connectedSocket } from '../http/sockets/private-node.ts';
import type { Counted } from './count-requests.ts';
import type { Answer, FromWorker, ReadingWorker, WorkerRequest } from './protocol.ts';

/** Part of this process in a rotation of several workers. */
export type Rotation = {
  /** A listening socket whose connections the supervisor hands to the workers in turn. */
  sharedSocket(server: Server): ListeningSocket;
  /** Gets connections from now on. */
  accept(): Promise<void>;
  /** Adds this process: writes are acknowledged only if it shows them. */
  join(): Promise<void>;
  /** Gives signs of life from now on. `shows` returns the position up to which this process's reads show the log. */
  live(shows: () => bigint): { readonly moved: () => void; readonly stop: () => void };
  /** Resolves when the reads of all workers show the log up to this position. */
  shown(position: bigint): Promise<void>;
  /** Counts a request of a key in a window of time, for all workers. */
  count(key: string, windowMs: number): Promise<Counted>;
  /** Counts of the open streams of all workers. */
  readonly streams: StreamCounts;
  /** Metrics of all workers. */
  metricsOfAll(): Promise<readonly (readonly object[])[]>;
  /** Returns the reading workers. */
  readers(): Promise<readonly ReadingWorker[]>;
  /** Sets how the metrics of this process are read. */
  onMeasure(read: () => Promise<readonly object[]>): void;
  /** This process no longer answers requests by itself. */
  left(): void;
};

/** Part of the rotation that hears the supervisor. */
export type RotationPart = Rotation & {
  connection(handle: object | undefined): void;
  measure(id: number): void;
};

export type RotationOptions = {
  readonly ask: (request: WorkerRequest) => Promise<{ readonly answer: Answer }>;
  readonly send: (message: FromWorker) => void;
};

const ALIVE_MS = 500;

/** Creates the part of a worker that has not entered the rotation. */
export function createRotation({ ask, send }: RotationOptions): RotationPart {
  let take: ((handle: object) => void) | undefined;
  let readMetrics: () => Promise<readonly object[]> = async () => [];
  let shown = -1n;
  let wanted = -1n;
  let asking: Promise<void> | undefined;

  /** Asks one question at a time. Writes that come in the meantime share the next question. */
  async function askShown(): Promise<void> {
    const position = wanted;
    try {
      await ask({ kind: 'show', position: String(position) });
      shown = position;
    } finally {
      asking = undefined;
    }
  }

  return {
    sharedSocket(server) {
      const sockets = new Set<Socket>();
      const ended = Promise.withResolvers<void>();
      let isClosed = false;
      const endIfDrained = () => isClosed && sockets.size === 0 && ended.resolve();
      take = (handle) => {
        const socket = connectedSocket(handle);
        sockets.add(socket);
        socket.once('close', () => {
          sockets.delete(socket);
          endIfDrained();
        });
        server.emit('connection', socket);
      };
      return {
        async open({ host, port }) {
          const { answer } = await ask({ kind: 'share', host, port });
          if (answer.kind !== 'sharing') throw new Error('the supervisor did not share its socket');
          // Node's HTTP server begins to watch its connections at this event.
          server.emit('listening');
          return addressInfo(answer);
        },
        async close() {
          // Connections that were handed over before have arrived when this is answered.
          await ask({ kind: 'leave' });
          isClosed = true;
          endIfDrained();
          return { ended: ended.promise };
        },
      };
    },
    async accept() {
      await ask({ kind: 'accept' });
    },
    async join() {
      await ask({ kind: 'join' });
    },
    live(shows) {
      const say = () => send({ kind: 'alive', position: String(shows()) });
      const timer = setInterval(say, ALIVE_MS);
      say();
      return { moved: say, stop: () => clearInterval(timer) };
    },
    async shown(position) {
      if (position > wanted) wanted = position;
      while (shown < position) {
        asking ??= askShown();
        await asking;
      }
    },
    async count(key, windowMs) {
      const { answer } = await ask({ kind: 'count', key, windowMs });
      if (answer.kind !== 'counted') throw new Error('the supervisor did not count a request');
      return answer;
    },
    streams: {
      async add(caller, { total, perCaller }) {
        const { answer } = await ask({ kind: 'count-stream', caller, maximums: { total, perCaller } });
        if (answer.kind !== 'counted-stream') throw new Error('the supervisor did not count a stream');
        return answer.reached;
      },
      remove: (caller) => send({ kind: 'ended-stream', caller }),
      clear: () => send({ kind: 'ended-stream' }),
    },
    async metricsOfAll() {
      const { answer } = await ask({ kind: 'measure' });
      return answer.kind === 'measured' ? answer.metrics : [];
    },
    async readers() {
      const { answer } = await ask({ kind: 'readers' });
      return answer.kind === 'readers' ? answer.readers : [];
    },
    onMeasure(read) {
      readMetrics = read;
    },
    left: () => send({ kind: 'left' }),
    connection(handle) {
      send({ kind: 'took' });
      if (handle !== undefined) take?.(handle);
    },
    measure(id) {
      readMetrics().then(
        (metrics) => send({ kind: 'measured', id, metrics }),
        () => send({ kind: 'measured', id, metrics: [] }),
      );
    },
  };
}

function addressInfo({ host, port }: { readonly host: string; readonly port: number }): AddressInfo {
  return { address: host, port, family: host.includes(':') ? 'IPv6' : 'IPv4' };
}
