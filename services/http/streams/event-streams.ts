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
  /** DocumentId of the user who signed in; undefined for other callers. */
  readonly user: string | undefined;
  /** Time in milliseconds at which `authorization` expires; undefined if it does not. */
  readonly expires: number | undefined;
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
  /** Calls `changed` after each change of rights: with the users that have changed, or without them for a change of tokens and roles. */
  readonly watchRights: (changed: (users?: ReadonlySet<string>) => void) => void;
  /** Returns the key of the current rights of this `Authorization`; undefined if it is no longer valid. */
  readonly rightsOf: (authorization: string | undefined) => Promise<string | undefined> | string | undefined;
};

type Open = EventStream & { readonly caller: StreamCaller; timer: NodeJS.Timeout | undefined };

const HEADERS = {
  ...SECURITY_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Without this header proxies such as nginx would buffer frames.
  'x-accel-buffering': 'no',
};
/** Node's timers wait no longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const RETRY_MS = { least: 500, most: 5_000 };
const COMMENT = ':\n\n';

/** Returns a frame with a random delay, which spreads the reconnects of clients over some seconds. */
export function retryFrame(): string {
  return `retry: ${Math.round(RETRY_MS.least + Math.random() * (RETRY_MS.most - RETRY_MS.least))}\n\n`;
}

/** Creates the streams of one process. Timers run only while there are streams. */
export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { limits, counts, rightsOf } = options;
  const streams = new Set<Open>();
  let isLeaving = false;
  let heartbeat: NodeJS.Timeout | undefined;

  const beat = () => {
    for (const stream of streams) stream.send(stream.pulse());
  };
  const endOthers = async (checked: Iterable<Open>) => {
    for (const [authorization, callers] of Map.groupBy(checked, ({ caller }) => caller.authorization)) {
      // Never rejects: rights that cannot be read end a stream.
      const rights = await rightsOf(authorization);
      for (const stream of callers) if (stream.caller.rights !== rights) stream.end(retryFrame());
    }
  };
  const settle = settleRights(options, streams, endOthers);
  /** No event announces that credentials expire. */
  const endWhenExpired = (stream: Open) => {
    const { expires } = stream.caller;
    if (expires === undefined) return;
    const left = Math.min(Math.max(0, expires - Date.now()), LONGEST_TIMER_MS);
    stream.timer = setTimeout(() => {
      if (Date.now() < expires) endWhenExpired(stream);
      else stream.end(retryFrame());
    }, left).unref();
  };
  const remove = (stream: Open) => {
    clearTimeout(stream.timer);
    if (!streams.delete(stream)) return;
    if (!isLeaving) counts.remove(stream.caller.id);
    if (streams.size === 0) {
      clearInterval(heartbeat);
      heartbeat = undefined;
    }
    stream.closed();
  };
  const refuseLeaving = () => {
    if (isLeaving) throw new RequestError('starting', 'This process is stopping: connect again');
  };
  return {
    async open(request, reply, caller) {
      refuseLeaving();
      const reached = await counts.add(caller.id, limits);
      // `leave` has forgotten the stream that was just counted.
      refuseLeaving();
      if (reached !== undefined) throw tooMany(reached);
      const stream = openStream(reply, caller, limits);
      streams.add(stream);
      heartbeat ??= setInterval(beat, limits.heartbeatMs).unref();
      endWhenExpired(stream);
      reply.raw.once('close', () => remove(stream));
      // The client may have disconnected while the stream was counted.
      if (request.raw.socket.destroyed) remove(stream);
      stream.send(retryFrame());
      // The rights may have changed since the request was authenticated.
      await endOthers([stream]);
      return stream;
    },
    verify: settle,
    leave() {
      isLeaving = true;
      // The clients open their streams in other processes before the last of these has ended.
      counts.clear();
      for (const stream of streams) stream.end(retryFrame());
    },
    count: () => streams.size,
  };
}

/**
 * Ends streams after each change of rights. The returned function resolves when no stream of a caller is open whose rights have changed
 * before the call.
 */
function settleRights(
  { watchRights }: EventStreamsOptions,
  streams: ReadonlySet<Open>,
  endOthers: (checked: Iterable<Open>) => Promise<void>,
): () => Promise<void> {
  const users = new Set<string>();
  let isEveryone = false;
  let settling: Promise<void> | undefined;
  const run = async () => {
    while (isEveryone || users.size > 0) {
      const changed = [...streams].filter(
        ({ caller }) => isEveryone || (caller.user !== undefined && users.has(caller.user)),
      );
      isEveryone = false;
      users.clear();
      await endOthers(changed);
    }
    settling = undefined;
  };
  const settle = async () => {
    // Never rejects: rights that cannot be read end a stream.
    if (isEveryone || users.size > 0) settling ??= run();
    await settling;
  };
  watchRights((changed) => {
    if (changed === undefined) isEveryone = true;
    else for (const user of changed) users.add(user);
    // Never rejects, see above.
    if (streams.size > 0) void settle();
  });
  return settle;
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
    timer: undefined,
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
