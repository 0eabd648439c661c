import type { ListenAddress } from '../http/sockets/listening-socket.ts';
import { acceptConnections, addressOf, type SocketHandle } from '../http/sockets/private-node.ts';
import { holdSocket, systemError } from './held-socket.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A listening socket. The supervisor accepts its connections and hands them to the workers in turn. */
export type SharedSocket = Awaited<ReturnType<typeof shareConnections>>;

/** Maximum number of connections that wait for a worker. Further ones are closed, because each costs a file descriptor. */
const MOST_WAITING = 1_024;

/**
 * Accepts connections in one process and hands them to the workers in turn. If several processes accepted from one socket, they would get
 * very unequal shares. A worker gets one connection at a time, so a stopped worker blocks at most one connection.
 */
export async function shareConnections(where: ListenAddress) {
  const held = await holdSocket(where);
  const waiting: SocketHandle[] = [];
  /** Workers that have taken their last connection. The next connection goes to the first one. */
  const free = new Set<WorkerProcess>();
  const rotation = new Set<WorkerProcess>();
  /** The connection on its way to a worker. This process closes its copy once the worker has its own. */
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

  const error = acceptConnections(held.handle, MOST_WAITING, (connection) => {
    if (waiting.length >= MOST_WAITING) return connection.close();
    waiting.push(connection);
    give();
  });
  if (error !== 0) {
    held.close();
    throw systemError(error, `${where.host}:${where.port}`);
  }
  const address = addressOf(held.handle);
  return {
    address: { host: address.address ?? where.host, port: address.port ?? where.port },
    /** Refuses further connections. Waiting connections are still handed over. */
    close: held.close,
    /** Adds a worker to the rotation. */
    add(worker: WorkerProcess): void {
      if (rotation.has(worker)) return;
      rotation.add(worker);
      free.add(worker);
      // If the worker ends, a connection that it has not taken ends too.
      // Never rejects: the end of a worker only resolves.
      void worker.ended.then(() => {
        rotation.delete(worker);
        free.delete(worker);
        settle(worker);
      });
      give();
    },
    /** Removes a worker. Connections on their way to it arrive before any later message. */
    remove(worker: WorkerProcess): void {
      rotation.delete(worker);
      free.delete(worker);
    },
    /**
     * Hands the next connection to a worker that has taken its last connection, or has not received it. A connection that was not received
     * ends.
     */
    took(worker: WorkerProcess): void {
      settle(worker);
      if (rotation.has(worker)) free.add(worker);
      give();
    },
  };
}
