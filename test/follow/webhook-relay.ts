import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Receives Strapi's webhooks and forwards them, except for those that it shall lose. */
export type WebhookRelay = {
  readonly url: string;
  /** Sends webhooks to an address, except those for which `loses` returns true. */
  to(url: string, loses: () => boolean): void;
  /** Number of webhooks that came, and of those that were lost. */
  counts(): { readonly heard: number; readonly lost: number };
  close(): Promise<void>;
};

export async function startWebhookRelay(): Promise<WebhookRelay> {
  let target: string | undefined;
  let isLost = () => true;
  let [heard, lost] = [0, 0];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    heard++;
    response.writeHead(204).end();
    if (target === undefined || isLost()) {
      lost++;
      return;
    }
    const headers = {
      authorization: request.headers.authorization ?? '',
      'content-type': 'application/json',
    };
    await fetch(`${target}/_varve/strapi`, { method: 'POST', headers, body }).catch(() => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(url, loses) {
      target = url;
      isLost = loses;
    },
    counts: () => ({ heard, lost }),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
