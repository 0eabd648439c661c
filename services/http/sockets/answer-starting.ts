import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../../../shared/request-error.ts';
import { errorBodyFor } from '../answers/algolia-error.ts';
import { presentError } from '../answers/error-envelope.ts';
import { NOT_LEADING_HEADER } from '../answers/responses.ts';

const STARTING = presentError(new RequestError('starting', 'The server is starting'));

/** Answers a request that arrived before the server was ready. */
export function answerStarting({ url }: Pick<IncomingMessage, 'url'>, response: ServerResponse): void {
  const body = errorBodyFor(url, STARTING);
  response
    .writeHead(503, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'retry-after': '1',
      [NOT_LEADING_HEADER]: '1',
    })
    .end(body);
}
