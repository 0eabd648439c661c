import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { RequestError } from '../../shared/request-error.ts';
import { type BoundOutput, boundOutput, OUTPUT_LIMITS, type OutputLimits } from './bound-output.ts';
import { presentError } from './error-envelope.ts';
import { refuseHead, refuseMalformed } from './refuse-malformed.ts';
import { refuseTarget } from './request-target.ts';
import { NOT_LEADING_HEADER } from './responses.ts';

export type Listener = {
  /** `http://127.0.0.1:1337` */
  readonly url: string;
  /** From now on requests go to `handler`; before, every request is answered 503 with Retry-After. */
  serve(handler: RequestListener): void;
  /** Takes no new connections, answers what is under way, closes; what is still open after `graceMs` is cut off. */
  drain(graceMs: number): Promise<void>;
  readonly output: Pick<BoundOutput, 'unsentBytes' | 'waitingRequests'>;
};

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** What sets the port, for messages. */
  readonly option?: string;
  /** Asked first about every request whose target is a path, in every phase; true: it has answered. */
  readonly first?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly limits?: Partial<OutputLimits>;
};

/** Longer than the 60 s after which common proxies drop an idle connection, so that the proxy closes first. */
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MS = 20_000;
/** Of the body as well: 200 MB, the largest upload by default, at 5 Mbit/s. Headers have their own, shorter limit. */
const REQUEST_MS = 320_000;

/**
 * Listens at once, so that `GET /_health` tells "starting" (503) from "not there" while data is being loaded. Rejects with a
 * sentence when the address cannot be had. Node's own limits stay: 16 KiB of request line and headers (431).
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { first = () => false, limits } = options;
  let handler: RequestListener = answerStarting;
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    requireHostHeader: false,
  });
  answerHalfClosed(server);
  const output = boundOutput(server, {
    limits: { ...OUTPUT_LIMITS, ...limits },
    urgent(request, response) {
      if (refuseTarget(request, response) || refuseHead(request, response)) return true;
      if (first(request, response)) return true;
      if (!isHealth(request)) return false;
      handler(request, response);
      return true;
    },
    handle: (request, response) => handler(request, response),
  });
  refuseMalformed(server, output);
  server.on('request', output.take);
  await bind(server, options);
  return {
    url: urlOf(server, options.host),
    serve(next) {
      handler = next;
    },
    drain: (graceMs) => drain(server, graceMs),
    output,
  };
}

/** A client that has sent its last request and says so still gets the answers. Undocumented, and in Node since version 0.8. */
function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/** Asked by whoever decides whether this process lives: never held back. */
function isHealth({ url = '' }: IncomingMessage): boolean {
  return url === '/_health' || url.startsWith('/_health?');
}

const STARTING = Buffer.from(
  JSON.stringify(presentError(new RequestError(503, 'ServiceUnavailableError', 'The server is starting'))),
);

function answerStarting(_request: unknown, response: ServerResponse): void {
  response
    .writeHead(503, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': STARTING.length,
      'retry-after': '1',
      [NOT_LEADING_HEADER]: '1',
    })
    .end(STARTING);
}

function bind(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen({ host: options.host, port: options.port }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function listenError(error: NodeJS.ErrnoException, { host, port, option = '--port' }: ListenOptions): Error {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') return new Error(`${where} is in use: choose another port with ${option}`);
  return new Error(`cannot listen on ${where}: ${error.message}`, { cause: error });
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * A connection that looks idle may have its next request in the kernel's buffer: to close it then resets the connection under
 * that request. So each is left open long enough to bring one more, whose answer says that it is the last.
 */
const IDLE_MS = 250;

function drain(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS);
    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
    // Not the HTTP server's own `close`, which closes idle connections at once.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(deadline);
      clearInterval(idle);
      // Ends what Node's server checks time-outs with; it has nothing to close any more.
      server.close(() => {});
      resolve();
    });
  });
}
