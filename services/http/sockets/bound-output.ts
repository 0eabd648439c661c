import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeSilentConnections } from './silent-connections.ts';

/**
 * Limits of unread output. In HTTP/1.1 a client can send many requests without reading an answer. Without limits the answers would fill the
 * memory.
 */
export const OUTPUT_LIMITS = {
  /** Maximum bytes of unread answers on all connections. Above it, the server begins no further request. */
  unsentBytes: 128 * 1024 * 1024,
  /** Above `unsentBytes`, the server closes connections with answers unread for longer than this, the oldest first. */
  patienceMs: 2_000,
  /** A connection whose client reads nothing of its answer for this long is closed. */
  stallMs: 30_000,
  /** Maximum number of requests that wait for an earlier request on their connection. A connection that sends more is closed. */
  waiting: 10_000,
};
export type OutputLimits = Readonly<typeof OUTPUT_LIMITS>;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Connection = {
  readonly socket: Socket;
  current: Exchange | undefined;
  /** Later requests of a client that pipelines. While there are any, nothing more is read from the socket. */
  readonly waiting: Exchange[];
  /** Time when the client was first seen not to have read the whole answer. */
  unreadSince: number | undefined;
  /** Text that is sent after the answers in flight. The connection ends after it. */
  lastWords: string | undefined;
  /** The last request that was answered. If it has arrived whole, the connection is idle until more bytes arrive. */
  answered: IncomingMessage | undefined;
};

export type BoundOutput = {
  /** Accepts a request, and passes it on when its turn comes. */
  take(request: IncomingMessage, response: ServerResponse): void;
  /** Answers input that is not a request, after the answers in flight, and ends the connection. */
  refuse(socket: Socket, answer: string): void;
  /** Lets the answers in flight say that their connections close after them, unless their headers have been sent. */
  closeAfterAnswers(): void;
  /**
   * Returns a function that closes the connections that have been idle since its last call, or since this one. A connection with an answer
   * that its client has not read whole is not idle.
   */
  watchIdle(): () => void;
  unsentBytes(): number;
  waitingRequests(): number;
};

export type BoundOutputOptions = {
  readonly limits: OutputLimits;
  /** Answers the request even if clients have too many unread answers. Returns false if `handle` has to answer it. */
  readonly urgent: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
};

/** Maximum age of the sum of unread bytes. */
const SUM_MS = 10;
const LOOK_MS = 50;
const GUARD_MS = 1_000;
/** Time for which input is still read after the last answer. Unread input would turn the end of the connection into a reset. */
const LINGER_MS = 500;

/** Returns whether an answer is being made, and the client has read everything that was sent of it. */
function isWorking(connection: Connection | undefined): boolean {
  return connection?.current !== undefined && connection.socket.writableLength === 0;
}

/** Answers the requests of each connection one after the other. Begins none while clients have too many unread answers. */
export function boundOutput(server: Server, { limits, urgent, handle }: BoundOutputOptions): BoundOutput {
  const connections = new Map<Socket, Connection>();
  const delayed = new Set<Connection>();
  let waiting = 0;
  let [sum, summedAt] = [0, 0];
  let looking: NodeJS.Timeout | undefined;

  server.on('connection', (socket: Socket) => {
    const connection = newConnection(socket);
    connections.set(socket, connection);
    keepPaused(connection);
    socket.once('close', () => forget(connection));
  });
  // A timer for every request would cost more than a regular look at the connections.
  const guarding = setInterval(guard, Math.min(GUARD_MS, limits.stallMs)).unref();
  server.once('close', () => clearInterval(guarding));
  closeSilentConnections(server, (socket) => isWorking(connections.get(socket)));

  /** Sets a timer for connections with unread answers. node:http replaces it when the answer is read. */
  function guard(): void {
    for (const { current, socket } of connections.values()) {
      if (current === undefined || socket.writableLength === 0) continue;
      if (socket.timeout !== limits.stallMs) socket.setTimeout(limits.stallMs);
    }
  }

  function forget(connection: Connection): void {
    connections.delete(connection.socket);
    delayed.delete(connection);
    waiting -= connection.waiting.splice(0).length;
  }

  function unsent(now: number): number {
    sum = 0;
    summedAt = now;
    for (const connection of connections.values()) {
      if (connection.current === undefined) continue;
      const { writableLength } = connection.socket;
      sum += writableLength;
      connection.unreadSince = writableLength === 0 ? undefined : (connection.unreadSince ?? now);
    }
    return sum;
  }

  function isFull(): boolean {
    const now = performance.now();
    return (now - summedAt < SUM_MS ? sum : unsent(now)) >= limits.unsentBytes;
  }

  function begin(connection: Connection, exchange: Exchange): void {
    const { request, response } = exchange;
    connection.current = exchange;
    response.on('close', () => finish(connection, exchange));
    if (urgent(request, response)) return;
    if (delayed.size === 0 && !isFull()) {
      handle(request, response);
      return;
    }
    delayed.add(connection);
    looking ??= setInterval(look, LOOK_MS);
  }

  function finish(connection: Connection, exchange: Exchange): void {
    if (connection.current !== exchange) return;
    connection.current = undefined;
    connection.answered = exchange.request;
    connection.unreadSince = undefined;
    if (delayed.size > 0) delayed.delete(connection);
    const next = connection.waiting.length === 0 ? undefined : connection.waiting.shift();
    if (next === undefined) {
      if (connection.lastWords !== undefined) end(connection, connection.lastWords);
      return;
    }
    waiting -= 1;
    // The socket is read again before the last request begins, to notice a client that disconnects during a long answer.
    if (connection.waiting.length === 0) connection.socket.resume();
    begin(connection, next);
  }

  /** Closes connections with answers unread for too long, and begins requests that waited. */
  function look(): void {
    const now = performance.now();
    let unreadBytes = unsent(now);
    const slowest = [...connections.values()].sort((a, b) => (a.unreadSince ?? now) - (b.unreadSince ?? now));
    for (const { socket, unreadSince = now } of slowest) {
      if (unreadBytes < limits.unsentBytes || now - unreadSince < limits.patienceMs) break;
      unreadBytes -= socket.writableLength;
      socket.destroy();
    }
    for (const connection of delayed) {
      if (isFull()) break;
      delayed.delete(connection);
      summedAt = 0;
      const { request, response } = connection.current as Exchange;
      handle(request, response);
    }
    if (delayed.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  }

  function refuse(socket: Socket, answer: string): void {
    const connection = connections.get(socket);
    if (connection === undefined || connection.lastWords !== undefined) return;
    connection.lastWords = answer;
    // The incomplete request is always the last one.
    if (connection.waiting.at(-1)?.request.complete === false) {
      connection.waiting.pop();
      waiting -= 1;
    }
    const { current } = connection;
    if (current?.request.complete === true) return;
    if (current?.response.headersSent === true) socket.destroy();
    else end(connection, answer);
  }

  return {
    take(request, response) {
      const connection = connections.get(request.socket);
      if (connection === undefined || connection.lastWords !== undefined) return;
      const exchange = { request, response };
      if (connection.current === undefined) return begin(connection, exchange);
      if (waiting >= limits.waiting) {
        connection.socket.destroy();
        return;
      }
      waiting += 1;
      connection.waiting.push(exchange);
      connection.socket.pause();
    },
    refuse,
    closeAfterAnswers: () => closeAfterAnswers(connections.values()),
    watchIdle: () => watchIdle(() => idleSockets(connections.values())),
    unsentBytes: () => unsent(performance.now()),
    waitingRequests: () => waiting,
  };
}

function newConnection(socket: Socket): Connection {
  return {
    socket,
    current: undefined,
    waiting: [],
    unreadSince: undefined,
    lastWords: undefined,
    answered: undefined,
  };
}

function closeAfterAnswers(connections: Iterable<Connection>): void {
  for (const { current, waiting } of connections) {
    const response = (waiting.at(-1) ?? current)?.response;
    if (response?.headersSent === false) response.setHeader('connection', 'close');
  }
}

function watchIdle(idle: () => ReadonlyMap<Socket, number>): () => void {
  let seen = idle();
  return () => {
    for (const [socket, bytes] of seen) if (socket.bytesRead === bytes) socket.destroy();
    seen = idle();
  };
}

/**
 * Returns the idle sockets, with the bytes that they have read. Node's `closeIdleConnections` would also close sockets whose last answer
 * has not been read whole.
 */
function idleSockets(connections: Iterable<Connection>): ReadonlyMap<Socket, number> {
  const idle = new Map<Socket, number>();
  for (const { socket, current, answered } of connections)
    if (current === undefined && answered?.complete === true) idle.set(socket, socket.bytesRead);
  return idle;
}

/** Keeps the socket paused while requests wait, although node:http resumes it for each body that it drops. */
function keepPaused(connection: Connection): void {
  const { socket } = connection;
  const resume = socket.resume.bind(socket);
  socket.resume = () => (connection.waiting.length > 0 ? socket : resume());
}

function end({ socket }: Connection, answer: string): void {
  if (!socket.writable) return;
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
