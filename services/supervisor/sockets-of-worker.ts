import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ListeningSocket, ownSocket, startListening } from '../http/sockets/listening-socket.ts';
import { addressOf } from '../http/sockets/private-node.ts';
import type { SocketName } from './protocol.ts';
import type { WorkerRequests } from './worker-requests.ts';

/** The supervisor's listening sockets, as this worker uses them. */
export type SocketsOfWorker = {
  /** Returns the listening socket of this name, for an HTTP server of this process. */
  socket(name: SocketName): (server: Server) => ListeningSocket;
  /** Sockets that are opened from now on get an address, but accept no connection before `start`. */
  wait(): void;
  /** Accepts connections on the sockets that have been opened. */
  start(): Promise<void>;
  /** Closes the supervisor's sockets too from now on, because the server stops. Before, another worker accepts their connections. */
  release(): void;
};

/** Creates the state without open sockets. */
export function createSocketsOfWorker({ ask }: Pick<WorkerRequests, 'ask'>): SocketsOfWorker {
  const waiting: (() => Promise<unknown>)[] = [];
  let isWaiting = false;
  let isReleased = false;
  return {
    socket: (name) => (server) => {
      const { close } = ownSocket(server);
      return {
        async open({ host, port }) {
          const { socket = {} } = await ask({ kind: 'listen', socket: name, host, port });
          const start = () => startListening(server, socket);
          if (!isWaiting) return start();
          waiting.push(start);
          return addressOf(socket) as AddressInfo;
        },
        async close() {
          if (isReleased && !isWaiting) await ask({ kind: 'close', socket: name });
          return close();
        },
      };
    },
    wait() {
      isWaiting = true;
    },
    async start() {
      isWaiting = false;
      for (const start of waiting) await start();
    },
    release() {
      isReleased = true;
    },
  };
}
