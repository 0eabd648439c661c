import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReachedLimit, StreamCounts } from '../../../shared/count-streams.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';

/** Limits of streams of server-sent events. */
export const STREAM_LIMITS = {
  /** Maximum number of open streams of a server. */
  total: 20_000,
  /** Maximum number of open streams of one caller: a token, a user, or a network address without a token. */
  perCaller: 1_000,
  /** Time between two signs of life, in milliseconds. */
  heartbeatMs: 15_000,
  /** Maximum number of bytes that a client has not read. Above it the stream is closed. */
  unsentBytes: 1024 * 1024,
};
export type StreamLimits = Readonly<typeof STREAM_LIMITS>;

/** Caller of a stream, and its rights at the beginning. */
export type StreamCaller = {
  readonly id: string;
  readonly authorization: string | undefined;
  /** Key of the rights, see `rightsKey`. */
  readonly rights: string;
};

export type EventStream = {
  isOpen(): boolean;
  /** Sends frames. Closes the stream instead if the client has too many unread bytes. */
  send(frames: string): void;
  /** Resolves when the client has read the sent frames, or has disconnected. */
  drained(): Promise<void>;
  /** Ends the stream after these frames. */
  end(frames?: string): void;
  /** Returns the frames that are sent as a sign of life. Default: a comment. */
  pulse: () => string;
  /** Called once when the stream is over. */
  closed: () => void;
};

export type EventStreams = {
  /** Answers a request with a stream. Rejects with RequestError: 429 above the limits, 503 while this process ends. */
  open(request: FastifyRequest, reply: FastifyReply, caller: StreamCaller): Promise<EventStream>;
  /** Ends streams whose caller's rights have changed. Call this before you send content. */
  verify(): Promise<void>;
  /** Ends all streams, so that their clients connect to another process. Refuses new ones. */
  leave(): void;
  count(): number;
};

export type EventStreamsOptions = {
  readonly limits: StreamLimits;
  readonly counts: StreamCounts;
  /** Returns the state of tokens and roles. It is another object after each change. */
  readonly accessState: () => unknown;
  /** Returns the key of the current rights of this `Authorization`; undefined if it is no longer valid. */
  readonly rightsOf: (authorization: string | undefined) => Promise<string | undefined> | string | undefined;
};

type Open = EventStream & { readonly caller: StreamCaller };

const HEADERS = {
  ...SECURITY_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Without this header proxies such as nginx would buffer frames.
  'x-accel-buffering': 'no',
};
const CHECK_MS = 1_000;
const RETRY_MS = { least: 500, most: 5_000 };
const COMMENT = ':\n\n';

/** Returns a frame with a random delay, which spreads the reconnects of clients over some seconds. */
export function retryFrame(): string {
  return `retry: ${Math.round(RETRY_MS.least + Math.random() * (RETRY_MS.most - RETRY_MS.least))}\n\n`;
}

/** Creates the streams of one process. Timers run only while there are streams. */
export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { limits, counts, rightsOf, accessState } = options;
  const streams = new Set<Open>();
  let isLeaving = false;
  let timers: readonly NodeJS.Timeout[] = [];

  const beat = () => {
    for (const stream of streams) stream.send(stream.pulse());
  };
  const endOthers = async () => {
    for (const [authorization, callers] of Map.groupBy(streams, ({ caller }) => caller.authorization)) {
      const rights = await rightsOf(authorization);
      for (const stream of callers) if (stream.caller.rights !== rights) stream.end(retryFrame());
    }
  };
  let isChecking = false;
  /** Checks regularly, because an expired token or a blocked user causes no change of tokens and roles. */
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    await endOthers().finally(() => {
      isChecking = false;
    });
  };
  let verified = accessState();
  const start = () => {
    if (timers.length > 0) return;
    // Never rejects: rights that cannot be read end a stream.
    timers = [setInterval(beat, limits.heartbeatMs), setInterval(() => void check(), CHECK_MS)];
    for (const timer of timers) timer.unref();
  };
  const remove = (stream: Open) => {
    if (!streams.delete(stream)) return;
    if (!isLeaving) counts.remove(stream.caller.id);
    if (streams.size === 0) {
      for (const timer of timers) clearInterval(timer);
      timers = [];
    }
    stream.closed();
  };
  const refuseLeaving = () => {
    if (isLeaving) throw new RequestError('starting', 'This process is stopping: connect again');
  };
  return {
    async open(request, reply, caller) {
      refuseLeaving();
      const state = accessState();
      const reached = await counts.add(caller.id, limits);
      // `leave` has forgotten the stream that was just counted.
      refuseLeaving();
      if (reached !== undefined) throw tooMany(reached);
      const stream = openStream(reply, caller, limits);
      streams.add(stream);
      start();
      reply.raw.once('close', () => remove(stream));
      // The client may have disconnected while the stream was counted.
      if (request.raw.socket.destroyed) remove(stream);
      stream.send(retryFrame());
      if (accessState() !== state) await endOthers();
      return stream;
    },
    async verify() {
      for (let now = accessState(); now !== verified; now = accessState()) {
        await endOthers();
        verified = now;
      }
    },
    leave() {
      isLeaving = true;
      // The clients open their streams in other processes before the last of these has ended.
      counts.clear();
      for (const stream of streams) stream.end(retryFrame());
    },
    count: () => streams.size,
  };
}

function tooMany({ found, option }: ReachedLimit): RequestError {
  const message = `${found} streams are open: close one first, or raise ${option}`;
  return new RequestError('too-many-streams', message, { found, option });
}

function openStream(reply: FastifyReply, caller: StreamCaller, limits: StreamLimits): Open {
  const response = reply.raw;
  reply.hijack();
  const others = reply.getHeaders() as Record<string, string>;
  const vary = [others['vary'], 'Accept'].filter((name) => name !== undefined).join(', ');
  response.writeHead(200, { ...others, ...HEADERS, vary });
  const isOpen = () => !response.writableEnded && !response.destroyed;
  return {
    caller,
    isOpen,
    pulse: () => COMMENT,
    closed: () => {},
    send(frames) {
      if (!isOpen()) return;
      if (response.writableLength > limits.unsentBytes) response.destroy();
      else response.write(frames);
    },
    async drained() {
      if (!isOpen() || !response.writableNeedDrain) return;
      await new Promise<void>((resolve) => {
        response.once('drain', resolve);
        response.once('close', resolve);
      });
    },
    end(frames) {
      if (isOpen()) response.end(frames);
    },
  };
}
