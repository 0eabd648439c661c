import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';

/** Where the connections of an HTTP server come from. */
export type ListeningSocket = {
  /** Connections come from now on. Rejects with the system's error when the address cannot be had. */
  open(where: { readonly host: string; readonly port: number }): Promise<AddressInfo>;
  /** Resolves when no more connections come; `ended` resolves when all that came have ended. */
  close(): Promise<{ readonly ended: Promise<void> }>;
};

/** A socket of this process. */
export function ownSocket(server: Server): ListeningSocket {
  return {
    open: (where) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(where, () => {
          server.removeAllListeners('error');
          resolve(server.address() as AddressInfo);
        });
      }),
    async close() {
      // Not the HTTP server's own `close`, which closes idle connections at once.
      const ended = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      return { ended };
    },
  };
}
