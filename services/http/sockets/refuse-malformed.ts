import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from '../../../shared/request-error.ts';
import type { BoundOutput } from './bound-output.ts';
import { refusalText, refuseRequest } from './refuse-request.ts';

/** Answers to errors that node:http finds in its input, by code. All others are a 400. */
const REFUSALS: Readonly<Record<string, RequestError>> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new RequestError('payload-too-large', 'Chunk extensions are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: new RequestError('request-timeout', 'The request did not arrive in time'),
};

/** Answer of node:http, and so of Strapi: it has no body (SEMANTICS section 2). */
const HEADERS_TOO_LARGE = [
  'HTTP/1.1 431 Request Header Fields Too Large',
  'content-length: 0',
  'connection: close',
  '\r\n',
].join('\r\n');

const CONNECT = new RequestError('method-not-served', 'CONNECT is not served');
const EXPECTATION = new RequestError('expectation-not-met', 'Expect takes only 100-continue');

/** Answers input that is not a request in the envelope of all errors. node:http would drop it silently. */
export function refuseMalformed(server: Server, output: BoundOutput): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') socket.destroy();
    else output.refuse(socket, answerTo(error));
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // node:http no longer handles errors of this socket.
    socket.on('error', () => socket.destroy());
    output.refuse(socket, refusalText(CONNECT));
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuseRequest(response, EXPECTATION);
  });
}

/**
 * Refuses a request of HTTP/1.1 without a Host header, and any request with two (RFC 9112 section 3.2). Also refuses versions other than
 * 1.0 and 1.1. Returns true if it has refused.
 */
export function refuseHead({ rawHeaders, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    refuseRequest(
      response,
      new RequestError('malformed-request', `HTTP/1.1 is served, got HTTP/${httpVersion}`),
    );
    return true;
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return false;
  refuseRequest(
    response,
    new RequestError('malformed-request', `A request has one Host header, got ${hosts}`),
  );
  return true;
}

function answerTo(error: NodeJS.ErrnoException): string {
  if (error.code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE;
  return refusalText(REFUSALS[error.code ?? ''] ?? malformed(error));
}

function malformed({ message }: Error): RequestError {
  return new RequestError(
    'malformed-request',
    `This is not an HTTP request: ${message.replace(/^Parse Error: /, '')}`,
  );
}
