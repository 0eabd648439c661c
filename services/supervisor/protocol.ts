import type { LevelWithSilent } from 'pino';
import type { ReachedLimit, StreamMaximums } from '../../shared/count-streams.ts';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import type { RecentRequest } from '../http/sockets/recent-requests.ts';

/** The listening sockets of a server: for the API, for operators, and for metrics if they have a separate port. */
export type SocketName = 'api' | 'operators' | 'metrics';

/** Requests of a worker to its supervisor. Each gets one answer. */
export type WorkerRequest =
  /** Asks for a listening socket. The supervisor opens it at the first request. */
  | {
      readonly kind: 'listen';
      readonly socket: SocketName;
      readonly host: string;
      readonly port: number;
    }
  /** Asks for the address of a shared socket: the supervisor accepts its connections and hands them to the workers in turn. */
  | { readonly kind: 'share'; readonly host: string; readonly port: number }
  /** This worker gets connections of the shared socket from now on. */
  | { readonly kind: 'accept' }
  /** This worker gets no more connections of the shared socket. */
  | { readonly kind: 'leave' }
  /** This worker is about to answer reads: from now on a write is acknowledged only if this worker shows it. */
  | { readonly kind: 'join' }
  /** Asks to wait until the reads of all workers show the log up to this position. */
  | { readonly kind: 'show'; readonly position: string }
  /** Counts a request that is limited, for all workers. */
  | { readonly kind: 'count'; readonly key: string; readonly windowMs: number }
  /** Counts a new stream of a caller, unless the streams of all workers have reached a limit. */
  | { readonly kind: 'count-stream'; readonly caller: string; readonly maximums: StreamMaximums }
  /** Asks for the metrics of all workers. */
  | { readonly kind: 'measure' }
  /** Asks for the reading workers. */
  | { readonly kind: 'readers' }
  /** Releases the listening socket: it closes when the worker closes its own. */
  | { readonly kind: 'close'; readonly socket: SocketName }
  /** Locks the data directory until the supervisor ends, and records the address for operators' requests. */
  | { readonly kind: 'lock'; readonly directory: string; readonly channel: OperatorChannel }
  | ({ readonly kind: 'abandon' } & Abandoned)
  /** Asks for a hand-over to another worker. The answer comes when that worker serves. Then this worker gets `stop`. */
  | ({ readonly kind: 'hand-over' } & Succession);

/** Ends a hand-over before the worker steps down. Refused after that. An older worker sends no members, an older supervisor ignores them. */
export type Abandoned = {
  /** Ends only the hand-over to this generation; absent: to any. */
  readonly generation?: number | undefined;
  /** Why the generation is not served. */
  readonly reason?: string | undefined;
};

/** The task of a worker that replaces another one. */
export type Succession = {
  readonly generation: number;
  /** The worker changes the content types, once the other worker has stepped down. */
  readonly changesTypes: boolean;
  /** Milliseconds for becoming leader and the live generation. */
  readonly enterMs: number;
  /** Recent requests to the other worker. */
  readonly recent: readonly RecentRequest[];
};

/** The reading workers: they only answer reads, and are never the leader. */
export type Followers = {
  readonly count: number;
  /** File of the generation that they serve. Each worker makes a copy. */
  readonly graph: string;
};

/** The task of a reading worker. */
export type Follows = Pick<Followers, 'graph'> & {
  /** Number of this worker, from 1 on. */
  readonly number: number;
};

/** State of a reading worker. */
export type ReadingWorker = {
  readonly pid: number;
  /** The worker's reads show the log up to this position; null: it is starting. */
  readonly position: string | null;
};

/** Format of the supervisor's log. */
export type LogStyle = {
  readonly logLevel: LevelWithSilent;
  readonly logFormat: 'json' | 'pretty' | undefined;
};

/**
 * The steps of a hand-over, which the workers report when they are done. `ready`: the next worker could serve. `yielded`: the serving
 * worker has stepped down. `entered`: the next worker serves.
 */
export const STEPS = ['ready', 'yielded', 'entered'] as const;
export type HandOverStep = (typeof STEPS)[number];

/** The worker that replaces another one, as other processes of the log will know it. `forMs`: its limit for becoming leader. */
export type NextWorker = { readonly owner: string; readonly address: string; readonly forMs: number };

export type FromWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly request: WorkerRequest }
  /** The worker answers requests: another one is started when it crashes. */
  | {
      readonly kind: 'serving';
      readonly log: LogStyle;
      readonly drainMs: number;
      readonly followers?: Followers | undefined;
    }
  /** A sign of life. `position`: reads of this worker show the log up to it. */
  | { readonly kind: 'alive'; readonly position: string }
  /** The worker has the connection that was handed to it. */
  | { readonly kind: 'took' }
  /** The worker passes all requests on. */
  | { readonly kind: 'left' }
  /** A counted stream of the caller has ended. Without a caller: the worker ends all its streams, and opens none. */
  | { readonly kind: 'ended-stream'; readonly caller?: string }
  | { readonly kind: 'measured'; readonly id: number; readonly metrics: readonly object[] }
  /** Announces to the parent process that the server serves. */
  | { readonly kind: 'greeting' }
  /** The worker ends before a rebuild that it has begun: the next one continues it, as after `renew`. An older supervisor ignores this. */
  | { readonly kind: 'unfinished' }
  /** A sign of life of a worker that prepares to replace another one. */
  | { readonly kind: 'preparing' }
  /** The worker cannot replace another one, and ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'ready'; readonly next?: NextWorker | undefined }
  | { readonly kind: Exclude<HandOverStep, 'ready'> };

/** The first message to a worker. */
export type Hello = {
  /** COMPATIBILITY of the supervisor's program. */
  readonly compatibility: string;
  /** Number of workers that crashed before this one. */
  readonly restarts: number;
  /** True: one of the workers said that it serves. */
  readonly isGreeted: boolean;
  /** Secret that operators' requests carry. */
  readonly secret: string;
  /** Another worker serves, and this one should replace it. */
  readonly succession?: Succession | undefined;
  /** Another worker is the leader, and this one answers reads. */
  readonly follows?: Follows | undefined;
};

export type ToWorker =
  | ({ readonly kind: 'hello' } & Hello)
  | { readonly kind: 'answer'; readonly id: number; readonly result: Answer }
  /** Asks the serving worker to step down for `next`. From then on each read shows the whole log. */
  | { readonly kind: 'yield'; readonly next?: NextWorker | undefined }
  /** Asks the serving worker to let the newly installed program make a generation and serve it. */
  | { readonly kind: 'renew' }
  /** Asks the next worker to become leader, and to accept connections. */
  | { readonly kind: 'enter' }
  /** Comes with a connection of the shared socket. */
  | { readonly kind: 'connection' }
  /** Asks for the worker's metrics. */
  | { readonly kind: 'measure'; readonly id: number }
  /** `elapsedMs`: milliseconds since the signal. The time for last requests is shorter by them. */
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly elapsedMs?: number }
  /** Tells a replaced worker that the whole server stops: it does not wait for idle connections. */
  | { readonly kind: 'hurry' };

/** `replaced`: another worker serves. */
export type StopReason = NodeJS.Signals | 'replaced';

export type Answer =
  /** Comes with the socket. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'sharing'; readonly host: string; readonly port: number }
  | { readonly kind: 'counted'; readonly current: number; readonly ttl: number }
  /** `reached`: the limit that refuses the stream. */
  | { readonly kind: 'counted-stream'; readonly reached: ReachedLimit | undefined }
  | { readonly kind: 'measured'; readonly metrics: readonly (readonly object[])[] }
  | { readonly kind: 'readers'; readonly readers: readonly ReadingWorker[] }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly error: SentError };

/** An error of the supervisor, with the system's code and SQLite's. */
export type SentError = {
  readonly message: string;
  readonly code?: string | undefined;
  readonly errcode?: number | undefined;
};

/** First argument of a program that runs below a supervisor. */
export const WORKER_ARGUMENT = 'worker';

/** Version of the messages in this file. Raise it with a change that a process of another release would not understand. */
const PROTOCOL = 3;
/** Version of the log's file. Copied, because the supervisor loads nothing that opens the log; a test compares both. */
const LOG_VERSION = 5;

/** Programs of two releases can share a data directory under one supervisor if this value is equal. */
export const COMPATIBILITY = `${PROTOCOL}.${LOG_VERSION}`;

/** Throws an error with a message if the program that started this process must not run together with this release. */
export function refuseIncompatible(other: string | undefined): void {
  if (other === COMPATIBILITY) return;
  throw new Error(
    `the program that is installed (${COMPATIBILITY}) and the one that runs (${other}) cannot run at the same time: restart the server`,
  );
}

/** Exit code of a worker that has said why another one must start in its place. */
export const RESTART_EXIT = 75;

/** Exit code of a worker that has said why it cannot continue: the next one would end the same way. */
export const FINAL_EXIT = 78;
