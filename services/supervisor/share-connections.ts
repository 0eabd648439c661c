import type { ListenAddress } from '../http/sockets/listening-socket.ts';
import { holdSocket, type SocketHandle, systemError } from './held-socket.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A listening socket whose connections the supervisor accepts, and hands to the workers in rotation in turn. */
export type SharedSocket = Awaited<ReturnType<typeof shareConnections>>;

/** Connections that wait for a worker. More are closed: each costs a file descriptor. */
const MOST_WAITING = 1_024;

/** Further members of Node's own object of a listening socket. */
type Acceptor = SocketHandle & {
  onconnection: (error: number, connection: SocketHandle | undefined) => void;
  listen(backlog: number): number;
};

/**
 * Accepts connections in one process and hands them to the workers in turn. If several processes accept from one socket, they get
 * very unequal shares. A worker gets one connection at a time, so one that has stopped keeps at most one waiting.
 */
export async function shareConnections(where: ListenAddress) {
  const held = await holdSocket(where);
  const acceptor = held.handle as Acceptor;
  const waiting: SocketHandle[] = [];
  /** Workers in rotation that have taken their last connection; the next one first. */
  const free = new Set<WorkerProcess>();
  const rotation = new Set<WorkerProcess>();
  /** The connection on its way to a worker: this process's copy is closed once the worker has its own. */
  const sent = new Map<WorkerProcess, SocketHandle>();

  function give(): void {
    for (const worker of free) {
      const connection = waiting.shift();
      if (connection === undefined) return;
      free.delete(worker);
      sent.set(worker, connection);
      worker.send({ kind: 'connection' }, connection);
    }
  }

  function settle(worker: WorkerProcess): void {
    sent.get(worker)?.close();
    sent.delete(worker);
  }

  acceptor.onconnection = (_error, connection) => {
    if (connection === undefined) return;
    if (waiting.length >= MOST_WAITING) return connection.close();
    waiting.push(connection);
    give();
  };
  const error = acceptor.listen(MOST_WAITING);
  if (error !== 0) {
    held.close();
    throw systemError(error, `${where.host}:${where.port}`);
  }
  const address: { address?: string; port?: number } = {};
  acceptor.getsockname(address);
  return {
    address: { host: address.address ?? where.host, port: address.port ?? where.port },
    /** Connections are refused after this. Those that wait are still handed over. */
    close: held.close,
    /** Adds a worker to the rotation. */
    add(worker: WorkerProcess): void {
      if (rotation.has(worker)) return;
      rotation.add(worker);
      free.add(worker);
      // Its end is the end of a connection that it has not taken.
      void worker.ended.then(() => {
        rotation.delete(worker);
        free.delete(worker);
        settle(worker);
      });
      give();
    },
    /** Removes it: what was handed to it already arrives before any later message. */
    remove(worker: WorkerProcess): void {
      rotation.delete(worker);
      free.delete(worker);
    },
    /** A worker has taken the connection that was handed to it, and gets its next. */
    took(worker: WorkerProcess): void {
      settle(worker);
      if (rotation.has(worker)) free.add(worker);
      give();
    },
  };
}
