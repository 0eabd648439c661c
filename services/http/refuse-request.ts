import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { RequestError } from '../../shared/request-error.ts';
import { presentError } from './error-envelope.ts';

type Refusal = { readonly headers: Readonly<Record<string, string | number>>; readonly body: string };

/** Answers a refused request, and closes its connection. */
export function refuseRequest(response: ServerResponse, error: RequestError): void {
  const { headers, body } = present(error);
  response.writeHead(error.status, headers).end(body);
}

/** The same answer for a connection on which no request arrived. */
export function refusalText(error: RequestError): string {
  const { headers, body } = present(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n');
}

function present(error: RequestError): Refusal {
  const body = JSON.stringify(presentError(error));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  return { headers, body };
}
