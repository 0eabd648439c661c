import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { answerStarting } from './answer-starting.ts';
import { type BoundOutput, boundOutput, OUTPUT_LIMITS, type OutputLimits } from './bound-output.ts';
import { type ListeningSocket, ownSocket } from './listening-socket.ts';
import { refuseHead, refuseMalformed } from './refuse-malformed.ts';
import { refuseTarget } from './request-target.ts';
import { afterReading } from './silent-connections.ts';
import { queueRequests, type WaitingRequests, type WaitLimits } from './waiting-requests.ts';

export type Listener = {
  /** `http://127.0.0.1:1337` */
  readonly url: string;
  /** Passes requests to `handler` from now on; before, every request is answered 503 with Retry-After, or waits (`waits`). */
  serve(handler: RequestListener): void;
  /**
   * Accepts no new connections, answers requests in flight, and closes; connections that are open after `graceMs` are cut off. `next`
   * answers the requests that still come on open connections.
   */
  drain(graceMs: number, next?: RequestListener): Promise<void>;
  /** Calls back when it begins to drain: answers without an end have to end. */
  leaving(left: () => void): void;
  /** Resolves when this process has left the address, to `next` of `drain`. */
  readonly left: Promise<RequestListener | undefined>;
  readonly output: Pick<BoundOutput, 'unsentBytes' | 'waitingRequests'>;
};

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Option that sets the port, for messages. */
  readonly option?: string;
  /** Called first for every request whose target is a path, in every phase; true: it has answered. */
  readonly first?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly limits?: Partial<OutputLimits>;
  readonly arrival?: ArrivalLimits;
  /** Default: a socket of this process. */
  readonly socket?: (server: Server) => ListeningSocket;
  /** Requests wait for `serve` within these limits, instead of being refused. */
  readonly waits?: WaitLimits | undefined;
};

/** Times in which a request has to arrive, in milliseconds. */
export const ARRIVAL_LIMITS = {
  /** Maximum time from the connection, or the last answer, to the end of the headers. */
  headersMs: 20_000,
  /** Maximum time to the end of the body. 200 MB, the largest upload by default, take this time at 5 Mbit/s. */
  requestMs: 320_000,
  /**
   * Maximum time to the first byte of the next request of a connection. It is longer than the 60 s after which common proxies drop an idle
   * connection, so that the proxy closes first.
   */
  idleMs: 65_000,
  /** Interval for looking at the first two. */
  lookMs: 5_000,
};
export type ArrivalLimits = Readonly<typeof ARRIVAL_LIMITS>;

/**
 * Listens at once, so that `GET /_health` distinguishes "starting" (503) from "not there" while data is being loaded. Rejects with a
 * message if the address is not available. Node's own limits apply: 16 KiB of request line and headers (431).
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { first = () => false, limits, arrival = ARRIVAL_LIMITS } = options;
  const waiting: WaitingRequests | undefined = options.waits && queueRequests(answerStarting, options.waits);
  let handler: RequestListener | undefined;
  const { promise: left, resolve: leave } = Promise.withResolvers<RequestListener | undefined>();
  /** Answers every request once this process has left the address. */
  let successor: RequestListener | undefined;
  const leavers: (() => void)[] = [];
  const server = createServer({
    keepAliveTimeout: arrival.idleMs,
    headersTimeout: arrival.headersMs,
    requestTimeout: arrival.requestMs,
    connectionsCheckingInterval: arrival.lookMs,
    requireHostHeader: false,
  });
  answerHalfClosed(server);
  const output = boundOutput(server, {
    limits: { ...OUTPUT_LIMITS, ...limits },
    urgent(request, response) {
      if (refuseTarget(request, response) || refuseHead(request, response)) return true;
      if (successor !== undefined) {
        successor(request, response);
        return true;
      }
      if (first(request, response)) return true;
      if (!isHealth(request)) return false;
      (handler ?? answerStarting)(request, response);
      return true;
    },
    handle: (request, response) => (handler ?? waiting?.take ?? answerStarting)(request, response),
  });
  refuseMalformed(server, output);
  server.on('request', output.take);
  const { host, port, socket = ownSocket } = options;
  const listening = socket(server);
  const address = await listening.open({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, options);
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    serve(next) {
      handler = next;
      waiting?.release(next);
    },
    leaving(left) {
      leavers.push(left);
    },
    drain(graceMs, next) {
      const idleMs = next === undefined ? IDLE_MS : IDLE_WITH_NEXT_MS;
      return drain(server, listening, { graceMs, idleMs }, () => {
        successor = next;
        for (const leaver of leavers) leaver();
        leave(next);
      });
    },
    left,
    output,
  };
}

/** A client that has sent its last request and closes its side still gets the answers. Undocumented, and in Node since version 0.8. */
function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/** Health checks decide whether this process lives: they are never delayed. */
function isHealth({ url = '' }: IncomingMessage): boolean {
  return url === '/_health' || url.startsWith('/_health?');
}

function listenError(error: NodeJS.ErrnoException, { host, port, option = '--port' }: ListenOptions): Error {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') return new Error(`${where} is in use: choose another port with ${option}`);
  return new Error(`cannot listen on ${where}: ${error.message}`, { cause: error });
}

/**
 * A connection that looks idle may have its next request in the kernel's buffer; closing it would reset the connection under that request.
 * So each stays open long enough for one more request, whose answer says that it is the last.
 */
const IDLE_MS = 250;
/**
 * The same where another process answers that request, so there is no hurry: a client that sends a request every few seconds gets
 * `connection: close` instead of being cut off.
 */
const IDLE_WITH_NEXT_MS = 5_000;

async function drain(
  server: Server,
  socket: ListeningSocket,
  { graceMs, idleMs }: { readonly graceMs: number; readonly idleMs: number },
  left: () => void,
): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  // First: a client whose connection ends would connect again.
  const { ended } = await socket.close();
  left();
  const idle = setInterval(() => void afterReading().then(() => server.closeIdleConnections()), idleMs);
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  await ended;
  clearTimeout(deadline);
  clearInterval(idle);
  // Ends the timer for Node's time-outs; no connections are left.
  server.close(() => {});
}
