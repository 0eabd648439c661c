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
import { answerHalfClosed } from './private-node.ts';
import { refuseHead, refuseMalformed } from './refuse-malformed.ts';
import { refuseTarget } from './request-target.ts';
import { afterReading } from './silent-connections.ts';
import { queueRequests, type WaitingRequests, type WaitLimits } from './waiting-requests.ts';

export type Listener = {
  /** `http://127.0.0.1:1337` */
  readonly url: string;
  /** Starts to pass requests to `handler`. Before this call a request waits (`waits`), or gets a 503 with Retry-After. */
  serve(handler: RequestListener): void;
  /**
   * Accepts no new connections, answers requests in flight, and closes. Connections that are open after `graceMs` are closed. `next`
   * answers requests that still arrive on open connections.
   */
  drain(graceMs: number, next?: RequestListener): Promise<void>;
  /** While it drains with `next`: idle connections are closed as soon as without `next`. */
  hurry(): void;
  /** Calls back when it begins to drain. Streams have to end then. */
  leaving(left: () => void): void;
  /** Resolves with `next` of `drain` when this process no longer accepts connections. */
  readonly left: Promise<RequestListener | undefined>;
  readonly output: Pick<BoundOutput, 'unsentBytes' | 'waitingRequests'>;
};

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Option that sets the port. Messages name it. */
  readonly option?: string;
  /** Called first for every request whose target is a path, also before `serve`. Returns true if it has answered. */
  readonly first?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly limits?: Partial<OutputLimits>;
  readonly arrival?: ArrivalLimits;
  /** Source of connections. Default: a socket of this process. */
  readonly socket?: (server: Server) => ListeningSocket;
  /** Limits within which requests wait for `serve`. Absent: they are refused. */
  readonly waits?: WaitLimits | undefined;
};

/** Time limits for the arrival of a request, in milliseconds. */
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
  /** Interval between two checks of the first two limits. */
  lookMs: 5_000,
};
export type ArrivalLimits = Readonly<typeof ARRIVAL_LIMITS>;

/**
 * Listens at once. While data is being loaded, `GET /_health` gets a 503, and connections are not refused. Rejects with a message if the
 * address is not available. Node limits the request line and headers to 16 KiB (431).
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { first = () => false, limits, arrival = ARRIVAL_LIMITS } = options;
  const waiting: WaitingRequests | undefined = options.waits && queueRequests(answerStarting, options.waits);
  let handler: RequestListener | undefined;
  const { promise: left, resolve: leave } = Promise.withResolvers<RequestListener | undefined>();
  /** Answers every request once this process no longer accepts connections. */
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
      return drain({ server, output, socket: listening }, { graceMs, idleMs }, () => {
        successor = next;
        for (const leaver of leavers) leaver();
        leave(next);
      });
    },
    hurry: () => void closeIdle(output, IDLE_MS).unref(),
    left,
    output,
  };
}

/** Returns whether a request is a health check. These are never delayed, because an orchestrator restarts a process without an answer. */
function isHealth({ url = '' }: IncomingMessage): boolean {
  return url === '/_health' || url.startsWith('/_health?');
}

function listenError(error: NodeJS.ErrnoException, { host, port, option = '--port' }: ListenOptions): Error {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') return new Error(`${where} is in use: choose another port with ${option}`);
  return new Error(`cannot listen on ${where}: ${error.message}`, { cause: error });
}

/**
 * Time for which an idle connection stays open while the server drains. The kernel's buffer may have its next request, and a close would
 * reset the connection. The answer to that request has `connection: close`.
 */
const IDLE_MS = 250;
/**
 * The same time if another process answers that request. It is longer, so that a client with a request every few seconds gets
 * `connection: close`, and is not disconnected.
 */
const IDLE_WITH_NEXT_MS = 5_000;

function closeIdle(output: BoundOutput, everyMs: number): NodeJS.Timeout {
  const close = output.watchIdle();
  // Never rejects: it waits for two turns.
  return setInterval(() => void afterReading().then(close), everyMs);
}

type Drained = {
  readonly server: Server;
  readonly output: BoundOutput;
  readonly socket: ListeningSocket;
};

async function drain(
  { server, output, socket }: Drained,
  { graceMs, idleMs }: { readonly graceMs: number; readonly idleMs: number },
  left: () => void,
): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  // The socket closes first, because a client whose connection ends would connect again.
  const { ended } = await socket.close();
  left();
  const idle = closeIdle(output, idleMs);
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  output.closeAfterAnswers();
  await ended;
  clearTimeout(deadline);
  clearInterval(idle);
  // No connections are left: this ends the timer of Node's time limits.
  server.close(() => {});
}
