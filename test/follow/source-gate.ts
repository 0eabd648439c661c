import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy to a source. The source can be replaced, and requests can be held. */
export type SourceGate = {
  readonly url: string;
  to(url: string): void;
  /** Holds requests for whose paths `holds` returns true. */
  hold(holds: (path: string) => boolean): void;
  /** Forwards the held requests and all later ones. */
  open(): void;
  close(): void;
};

export async function startSourceGate(url: string): Promise<SourceGate> {
  let target = url;
  let holds = (_path: string) => false;
  let opened = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    while (holds(request.url ?? '')) await opened.promise;
    const { method, headers } = request;
    const forwarded = send(new URL(request.url ?? '/', target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(other) {
      target = other;
    },
    hold(which) {
      holds = which;
    },
    open() {
      holds = () => false;
      opened.resolve();
      opened = Promise.withResolvers<void>();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
