import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';

export type ListenAddress = { readonly host: string; readonly port: number };

/** Source of connections of an HTTP server. */
export type ListeningSocket = {
  /** Starts accepting connections. Rejects with the system's error if the address is not available. */
  open(where: ListenAddress): Promise<AddressInfo>;
  /** Resolves when no more connections come; `ended` resolves when all existing ones have ended. */
  close(): Promise<{ readonly ended: Promise<void> }>;
};

/** A socket of this process. */
export function ownSocket(server: Server): ListeningSocket {
  return {
    open: (where) => startListening(server, where),
    async close() {
      // Not the HTTP server's own `close`, which closes idle connections at once.
      const ended = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      return { ended };
    },
  };
}

/** Connections that wait while no process accepts them; the system's own limit may be lower. */
const BACKLOG = 1_024;

/** Starts to listen. `where`: an address, or a socket that has one (an object of Node's own). */
export function startListening(server: Server, where: ListenAddress | object): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const listening = () => {
      server.removeAllListeners('error');
      resolve(server.address() as AddressInfo);
    };
    server.once('error', reject);
    if ('port' in where) server.listen({ ...where, backlog: BACKLOG }, listening);
    else server.listen(where, BACKLOG, listening);
  });
}

/** The address of a socket (an object of Node's own) that nobody listens on in this process yet. */
export function addressOf(socket: object): AddressInfo {
  const address: Partial<AddressInfo> = {};
  const { _handle: handle = socket } = socket as { readonly _handle?: object };
  (handle as { getsockname(out: object): number }).getsockname(address);
  return address as AddressInfo;
}
