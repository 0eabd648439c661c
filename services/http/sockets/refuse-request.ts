import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { RequestError } from '../../../shared/request-error.ts';
import { errorBodyFor } from '../answers/algolia-error.ts';
import { presentError } from '../answers/error-envelope.ts';

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
};

/** Answers a refused request, and closes its connection. */
export function refuseRequest(response: ServerResponse, error: RequestError): void {
  const { status, headers, body } = present(error, response.req.url);
  response.writeHead(status, headers).end(body);
}

/** Returns the same answer as text, for a connection on which no request arrived. */
export function refusalText(error: RequestError): string {
  const { status, headers, body } = present(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

function present(error: RequestError, target?: string): Answer {
  const envelope = presentError(error);
  const body = errorBodyFor(target, envelope);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    connection: 'close',
  };
  return { status: envelope.error.status, headers, body };
}
