import type { LevelWithSilent } from 'pino';
import type { OperatorChannel } from '../../shared/sqlite/lock-data-directory.ts';

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
  /** Releases the listening socket: it ends with the worker's. */
  | { readonly kind: 'close'; readonly socket: SocketName }
  /** Locks the data directory for the life of the supervisor, and records the address for operators' requests. */
  | { readonly kind: 'lock'; readonly directory: string; readonly channel: OperatorChannel };

/** Format of the supervisor's log. */
export type LogStyle = {
  readonly logLevel: LevelWithSilent;
  readonly logFormat: 'json' | 'pretty' | undefined;
};

export type FromWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly request: WorkerRequest }
  /** The worker answers requests: another one is started when it crashes. */
  | { readonly kind: 'serving'; readonly log: LogStyle }
  /** Tells the process that started the server that it serves. */
  | { readonly kind: 'greeting' };

/** The first message to a worker. */
export type Hello = {
  /** Number of workers that ended before this one. */
  readonly restarts: number;
  /** True if one of them reported that it serves. */
  readonly isGreeted: boolean;
  /** Secret of operators' requests. */
  readonly secret: string;
};

export type ToWorker =
  | ({ readonly kind: 'hello' } & Hello)
  | { readonly kind: 'answer'; readonly id: number; readonly result: Answer }
  | { readonly kind: 'stop'; readonly signal: NodeJS.Signals };

export type Answer =
  /** Arrives with the socket. */
  | { readonly kind: 'listening' }
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

/** Exit code of a worker that has said why it cannot continue: the next one would end the same way. */
export const FINAL_EXIT = 78;
