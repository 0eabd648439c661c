import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';

export type ListenAddress = { readonly host: string; readonly port: number };

/** Source of connections of an HTTP server. */
export type ListeningSocket = {
  /** Starts accepting connections. Rejects with the system's error if the address is not available. */
  open(where: ListenAddress): Promise<AddressInfo>;
  /** Resolves when no more connections are accepted. `ended` resolves when all existing connections have ended. */
  close(): Promise<{ readonly ended: Promise<void> }>;
};

/** Creates a socket of this process. */
export function ownSocket(server: Server): ListeningSocket {
  return {
    open: (where) => startListening(server, where),
    async close() {
      // The HTTP server's own `close` would close idle connections at once.
      const ended = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      return { ended };
    },
  };
}

/** Maximum number of connections that wait to be accepted. The limit of the system may be lower. */
const BACKLOG = 1_024;

/** Starts to listen. `where`: an address, or a socket that is bound to one (a handle of Node). */
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
