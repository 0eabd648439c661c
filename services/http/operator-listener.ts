import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import { isSameText } from '../../shared/text-digest.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { runOperation } from '../operator/operations.ts';
import {
  type AnswerLine,
  SECRET_HEADER,
  SIGN_OF_LIFE,
  SIGN_OF_LIFE_MS,
} from '../operator/operator-protocol.ts';
import { readStatus } from '../operator/status.ts';
import { listen } from './sockets/listen.ts';
import type { ListeningSocket } from './sockets/listening-socket.ts';
import { isLoopback } from './sockets/loopback.ts';

export type OperatorEntrance = {
  /** Secret that every request has to carry. */
  readonly secret: string;
  /** Source of the connections. */
  readonly socket: (server: Server) => ListeningSocket;
};

/**
 * Accepts requests of operators on a loopback port, whatever address the API has. The body of `POST /_varve/operations/<name>` is the
 * request as JSON. Its answer has one line of JSON for each line of output and one for the end, with a sign of life every second.
 * `GET /_varve/projections` works as on the port of the API. A request without the secret gets a 403.
 */
export async function openOperatorListener({ secret, socket }: OperatorEntrance) {
  const stopping = new AbortController();
  let context: OperatorContext | undefined;
  const listener = await listen({ host: '127.0.0.1', port: 0, socket });
  listener.serve((request, response) => {
    if (!isAdmitted(request, secret)) refuse(response, 403, 'The operator secret is missing or wrong');
    else if (context === undefined) refuse(response, 503, 'The server is starting');
    else
      void answer(context, request, response, stopping.signal).catch(() => {
        // The client has disconnected.
        response.destroy();
      });
  });
  return {
    /** Address and secret for the lock file. */
    channel: { address: listener.url, secret } satisfies OperatorChannel,
    /** Starts to carry operations out. Before this call the answer is 503. */
    serve(served: OperatorContext): void {
      context = served;
    },
    /** Ends operations in progress, and accepts no more requests. */
    close(): Promise<void> {
      stopping.abort(new Error('the server is stopping'));
      return listener.drain(1_000);
    },
  };
}

/** Returns whether a request comes from this machine and has the secret. */
function isAdmitted({ headers, socket }: IncomingMessage, secret: string): boolean {
  return isSameText(String(headers[SECRET_HEADER] ?? ''), secret) && isLoopback(socket.remoteAddress ?? '');
}

async function answer(
  context: OperatorContext,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  if (request.url === '/_varve/projections' && request.method === 'GET') {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify({ data: await readStatus(context), meta: {} }));
    return;
  }
  const name = /^\/_varve\/operations\/([a-z-]+)$/.exec(request.url ?? '')?.[1];
  if (name === undefined || request.method !== 'POST') return refuse(response, 404, 'There is no such path');
  const form = await json(request).catch(() => undefined);
  if (form === undefined) return refuse(response, 400, 'The request is not JSON');
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('no client waits for the answer')));
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  sendSignsOfLife(response);
  const signal = AbortSignal.any([stopping, gone.signal]);
  await pipeline(Readable.from(answerLines(context, name, form, { signal, stopping })), response);
}

/** Shows the operator's command that this process runs, however long an operation takes for its next line. */
function sendSignsOfLife(response: ServerResponse): void {
  const timer = setInterval(() => {
    if (!response.writableEnded && !response.writableNeedDrain) response.write(SIGN_OF_LIFE);
  }, SIGN_OF_LIFE_MS);
  response.once('close', () => clearInterval(timer));
}

async function* answerLines(
  context: OperatorContext,
  name: string,
  form: unknown,
  { signal, stopping }: { readonly signal: AbortSignal; readonly stopping: AbortSignal },
): AsyncGenerator<string> {
  try {
    for await (const line of runOperation(context, name, form, signal)) yield lineText({ line });
    yield lineText({ done: true });
  } catch (error) {
    if (stopping.aborted) yield lineText({ stopping: (stopping.reason as Error).message });
    else yield lineText({ failed: (error as Error).message });
  }
}

function lineText(line: AnswerLine): string {
  return `${JSON.stringify(line)}\n`;
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`);
}
