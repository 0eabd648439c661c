import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCondition } from '../../shared/condition.ts';

/** A request that a receiver got. */
export type Received = {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: ReceivedBody;
};

export type ReceivedBody = {
  readonly event: string;
  readonly uid?: string;
  readonly entry?: { readonly documentId: string; readonly [name: string]: unknown };
  readonly media?: { readonly documentId: string; readonly [name: string]: unknown };
  readonly [name: string]: unknown;
};

export type ReceiverAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the receiver never answers. */
  readonly hangs?: true;
};

export type Receiver = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Returns the largest number of requests that were open at one time. */
  mostAtOnce(): number;
  /** Resolves to the first `count` requests when they have arrived. */
  until(count: number): Promise<readonly Received[]>;
  /** Sets the later answers. Default: 200. */
  answer(next: (request: Received, count: number) => ReceiverAnswer | Promise<ReceiverAnswer>): void;
  close(): Promise<void>;
};

/** Starts an HTTP server that records webhooks. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const arrived = createCondition();
  let [open, most] = [0, 0];
  let next: (request: Received, count: number) => ReceiverAnswer | Promise<ReceiverAnswer> = () => ({
    status: 200,
  });
  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const json = JSON.parse(body) as ReceivedBody;
      const one = { id: String(request.headers['webhook-id']), headers: request.headers, body, json };
      received.push(one);
      arrived.check();
      const answer = await next(one, received.length);
      if (answer.hangs !== true) response.writeHead(answer.status, answer.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    mostAtOnce: () => most,
    async until(count) {
      await arrived.until(() => received.length >= count);
      return received.slice(0, count);
    },
    answer(given) {
      next = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
