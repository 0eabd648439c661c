import type { ServerResponse } from 'node:http';
import { RequestError } from '../../../shared/request-error.ts';
import { presentError } from '../answers/error-envelope.ts';
import { NOT_LEADING_HEADER } from '../answers/responses.ts';

const STARTING = Buffer.from(
  JSON.stringify(presentError(new RequestError('starting', 'The server is starting'))),
);

/** Answers a request that arrived before the server was ready. */
export function answerStarting(_request: unknown, response: ServerResponse): void {
  response
    .writeHead(503, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': STARTING.length,
      'cache-control': 'no-store',
      'retry-after': '1',
      [NOT_LEADING_HEADER]: '1',
    })
    .end(STARTING);
}
