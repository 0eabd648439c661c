import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';

export type ListenAddress = { readonly host: string; readonly port: number };

/** Where the connections of an HTTP server come from. */
export type ListeningSocket = {
  /** Connections come from now on. Rejects with the system's error when the address cannot be had. */
  open(where: ListenAddress): Promise<AddressInfo>;
  /** Resolves when no more connections come; `ended` resolves when all that came have ended. */
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

/** `where`: an address, or a socket that has one (an object of Node's own). */
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
