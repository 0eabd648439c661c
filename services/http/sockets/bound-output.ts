import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeSilentConnections } from './silent-connections.ts';

/**
 * Limits of unsent output. HTTP/1.1 lets a client send many requests without reading an answer; without limits the answers would fill the
 * memory.
 */
export const OUTPUT_LIMITS = {
  /** Bytes of unread answers, on all connections. Above it no further request is begun. */
  unsentBytes: 128 * 1024 * 1024,
  /** Above `unsentBytes`, connections with answers unread for longer than this are closed, the oldest first. */
  patienceMs: 2_000,
  /** A connection whose client reads nothing of its answer for this long is closed. */
  stallMs: 30_000,
  /** Requests, on all connections, that wait for an earlier one on theirs. A connection that sends more is closed. */
  waiting: 10_000,
};
export type OutputLimits = Readonly<typeof OUTPUT_LIMITS>;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Connection = {
  readonly socket: Socket;
  current: Exchange | undefined;
  /** Later requests of a client that pipelines; while there are any, nothing more is read. */
  readonly waiting: Exchange[];
  /** Time when the client was first seen not to have read the whole answer. */
  unreadSince: number | undefined;
  /** Written after the answers in flight; then the connection ends. */
  lastWords: string | undefined;
};

export type BoundOutput = {
  /** Passes a request on when its turn comes. */
  take(request: IncomingMessage, response: ServerResponse): void;
  /** Answers input that is not a request, after the answers in flight, and ends the connection. */
  refuse(socket: Socket, answer: string): void;
  unsentBytes(): number;
  waitingRequests(): number;
};

export type BoundOutputOptions = {
  readonly limits: OutputLimits;
  /** Answers the request whatever other clients have not read; false: it is for `handle`. */
  readonly urgent: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
};

/** Maximum age of the sum of unread bytes. */
const SUM_MS = 10;
const LOOK_MS = 50;
const GUARD_MS = 1_000;
/** Reads further input of a client this long after its last request: unread bytes would make the end a reset. */
const LINGER_MS = 500;

/** Returns whether an answer is being made, of which the client has read all that there is. */
function isWorking(connection: Connection | undefined): boolean {
  return connection?.current !== undefined && connection.socket.writableLength === 0;
}

/** Answers the requests of each connection one after the other, and begins none while clients have too many unread answers. */
export function boundOutput(server: Server, { limits, urgent, handle }: BoundOutputOptions): BoundOutput {
  const connections = new Map<Socket, Connection>();
  const delayed = new Set<Connection>();
  let waiting = 0;
  let sum = 0;
  let summedAt = 0;
  let looking: NodeJS.Timeout | undefined;

  server.on('connection', (socket: Socket) => {
    const connection = {
      socket,
      current: undefined,
      waiting: [],
      unreadSince: undefined,
      lastWords: undefined,
    };
    connections.set(socket, connection);
    keepPaused(connection);
    socket.once('close', () => forget(connection));
  });
  // A timer for every request would cost more than looking at the connections now and then.
  const guarding = setInterval(guard, Math.min(GUARD_MS, limits.stallMs)).unref();
  server.once('close', () => clearInterval(guarding));
  closeSilentConnections(server, (socket) => isWorking(connections.get(socket)));

  /** Gives connections with unread answers a timer, which node:http replaces when the answer is read. */
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
    connection.unreadSince = undefined;
    if (delayed.size > 0) delayed.delete(connection);
    const next = connection.waiting.length === 0 ? undefined : connection.waiting.shift();
    if (next === undefined) {
      if (connection.lastWords !== undefined) end(connection, connection.lastWords);
      return;
    }
    waiting -= 1;
    // Read again before the last one begins: its answer may take a while, and the client may go away.
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
    unsentBytes: () => unsent(performance.now()),
    waitingRequests: () => waiting,
  };
}

/** Keeps the socket paused while requests wait: node:http resumes it for each body that it drops. */
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
