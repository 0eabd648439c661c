import type { LevelWithSilent } from 'pino';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';
import type { RecentRequest } from '../http/sockets/recent-requests.ts';

/** The listening sockets of a server: of the API, for operators, and for metrics where they have a port of their own. */
export type SocketName = 'api' | 'operators' | 'metrics';

/** Requests of a worker to its supervisor. Each gets one answer. */
export type WorkerRequest =
  /** Is answered with the listening socket, which the supervisor makes when it is asked for the first time. */
  | {
      readonly kind: 'listen';
      readonly socket: SocketName;
      readonly host: string;
      readonly port: number;
    }
  /** The same for a socket whose connections the supervisor accepts, for workers in turn. Is answered with its address. */
  | { readonly kind: 'share'; readonly host: string; readonly port: number }
  /** This worker gets connections of the shared socket from now on. */
  | { readonly kind: 'accept' }
  /** It gets none any more. */
  | { readonly kind: 'leave' }
  /** This worker is about to answer reads: a write is acknowledged only if it shows it. */
  | { readonly kind: 'join' }
  /** Is answered when the reads of all workers show the log up to this position. */
  | { readonly kind: 'show'; readonly position: string }
  /** Counts a request that is limited, for all workers. */
  | { readonly kind: 'count'; readonly key: string; readonly windowMs: number }
  /** Is answered with the metrics of all workers. */
  | { readonly kind: 'measure' }
  /** Is answered with the workers next to the leading one. */
  | { readonly kind: 'readers' }
  /** Lets the listening socket go: it ends with the worker's. */
  | { readonly kind: 'close'; readonly socket: SocketName }
  /** Takes the data directory for as long as the supervisor lives, and writes down where operators' requests are taken. */
  | { readonly kind: 'lock'; readonly directory: string; readonly channel: OperatorChannel }
  /** Asks for a hand-over to another worker. Answered when that one serves; this one gets `stop` then. */
  | ({ readonly kind: 'hand-over' } & Succession);

/** The task of a worker that takes the place of another. */
export type Succession = {
  readonly generation: number;
  /** It changes the content types, once the other one has stepped down. */
  readonly changesTypes: boolean;
  /** Milliseconds for becoming leader and the live generation. */
  readonly enterMs: number;
  /** Requests that the other one has answered recently. */
  readonly recent: readonly RecentRequest[];
};

/** The workers next to the leading one, which only answer reads. */
export type Followers = {
  readonly count: number;
  /** File of the generation that they serve: each makes a copy of it. */
  readonly graph: string;
};

/** The task of a worker that answers reads next to the leading one. */
export type Follows = Pick<Followers, 'graph'> & {
  /** Number of this worker, from 1 on. */
  readonly number: number;
};

/** A worker that answers reads next to the leading one. */
export type ReadingWorker = {
  readonly pid: number;
  /** Its reads show the log up to here; null: it is starting. */
  readonly position: string | null;
};

/** How the supervisor writes its log. */
export type LogStyle = {
  readonly logLevel: LevelWithSilent;
  readonly logFormat: 'json' | 'pretty' | undefined;
};

/**
 * The steps of a hand-over, as the workers say that they are done. `ready`: the next worker could serve. `yielded`: the one that
 * serves has stepped down. `entered`: the next one serves.
 */
export const STEPS = ['ready', 'yielded', 'entered'] as const;
export type HandOverStep = (typeof STEPS)[number];

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
  | { readonly kind: 'measured'; readonly id: number; readonly metrics: readonly object[] }
  /** Announces to the parent process that the server serves. */
  | { readonly kind: 'greeting' }
  /** The worker cannot take another's place, and ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: HandOverStep };

/** The first message to a worker. */
export type Hello = {
  /** COMPATIBILITY of the supervisor's program. */
  readonly compatibility: string;
  /** How many workers crashed before this one. */
  readonly restarts: number;
  /** Whether one of them said that it serves. */
  readonly isGreeted: boolean;
  /** Secret that operators' requests carry. */
  readonly secret: string;
  /** Another worker serves, and this one is to take its place. */
  readonly succession?: Succession | undefined;
  /** Another worker is the leader, and this one answers reads. */
  readonly follows?: Follows | undefined;
};

export type ToWorker =
  | ({ readonly kind: 'hello' } & Hello)
  | { readonly kind: 'answer'; readonly id: number; readonly result: Answer }
  /** To the worker that serves: steps down, and answers reads with all that is in the log from then on. */
  | { readonly kind: 'yield' }
  /** To the worker that serves: has the program that is installed by now make a generation, and serve it. */
  | { readonly kind: 'renew' }
  /** To the next worker: becomes leader, and accepts connections. */
  | { readonly kind: 'enter' }
  /** Comes with a connection of the shared socket. */
  | { readonly kind: 'connection' }
  /** Asks for the worker's metrics. */
  | { readonly kind: 'measure'; readonly id: number }
  | { readonly kind: 'stop'; readonly reason: StopReason };

/** `replaced`: another worker serves. */
export type StopReason = NodeJS.Signals | 'replaced';

export type Answer =
  /** Comes with the socket. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'sharing'; readonly host: string; readonly port: number }
  | { readonly kind: 'counted'; readonly current: number; readonly ttl: number }
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

/** Number of the messages in this file. A change that a process of another release would not understand raises it. */
const PROTOCOL = 1;
/** Version of the log's file. Copied, because the supervisor loads nothing that opens the log; a test compares both. */
const LOG_VERSION = 5;

/** Programs can work on one data directory at once, one below the other's supervisor, where this is the same. */
export const COMPATIBILITY = `${PROTOCOL}.${LOG_VERSION}`;

/** Throws a sentence where the program that started this process is of another release, and both must not work at once. */
export function refuseIncompatible(other: string | undefined): void {
  if (other === COMPATIBILITY) return;
  throw new Error(
    `the program that is installed (${COMPATIBILITY}) and the one that runs (${other}) cannot work at once: restart the server`,
  );
}

/** Exit code of a worker that has said why it cannot continue: the next one would end the same way. */
export const FINAL_EXIT = 78;
