import { setTimeout as delay } from 'node:timers/promises';
import { ErrorType, isCommandError } from '@kurrent/kurrentdb-client';

/** Something went wrong that will be tried again: for logs and metrics. */
export type Trouble = {
  /** Such as `append to varve.lease` or `subscription`. */
  readonly operation: string;
  readonly error: Error;
  /** 1 after the first failure. */
  readonly attempt: number;
  readonly retryInMs: number;
};

export type Patience = {
  /** For one call to the server. */
  readonly deadlineMs: number;
  /** For one operation with all its attempts. Subscriptions never give up. */
  readonly giveUpAfterMs: number;
  readonly onTrouble: (trouble: Trouble) => void;
};

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5_000;

/** What a server says that is not ready, not reached, not leading or too slow, by the client's kinds of errors. */
const PASSING: ReadonlySet<ErrorType> = new Set([
  ErrorType.UNAVAILABLE,
  ErrorType.CANCELLED,
  ErrorType.DEADLINE_EXCEEDED,
  ErrorType.TIMEOUT,
  ErrorType.NOT_LEADER,
]);

/** gRPC statuses of errors without a kind that a repetition meets again: invalid argument, out of range, unimplemented … */
const LASTING_CODES: ReadonlySet<number> = new Set([3, 7, 11, 12, 16]);

class DeadlinePassed extends Error {}

/** Doubling from 50 ms to 5 s, less up to half of it at random, so that a fleet does not come back all at once. */
export const waitBefore = (attempt: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (1 - Math.random() / 2);

/** Whether the same call may succeed later. */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof DeadlinePassed) return true;
  if (!isCommandError(error as Error)) return isStatus(error) || isDiscoveryFailure(error);
  const { type, code, message } = error as Error & { type: ErrorType; code?: number };
  if (type !== ErrorType.UNKNOWN) return PASSING.has(type);
  // The Rust bridge has no codes: it spells the status out.
  return !LASTING_CODES.has(code ?? -1) && !message.includes('Client specified an invalid argument');
};

/** The call for the server's features ends in gRPC's own errors. */
const isStatus = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === 'number' && !LASTING_CODES.has(code);
};

/** The client's gossip discovery and sockets end in plain errors. */
const isDiscoveryFailure = (error: unknown): boolean =>
  error instanceof Error && (/^Failed to discover/.test(error.message) || 'syscall' in error);

/**
 * Makes the call until it succeeds, fails for good or the patience is at an end. `call` must stand repetition: whether a
 * failed attempt took effect is not known. Rejects with an error that names the operation.
 */
export const retrying = async <T>(
  operation: string,
  { deadlineMs, giveUpAfterMs, onTrouble }: Patience,
  call: () => Promise<T>,
): Promise<T> => {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withDeadline(call(), deadlineMs);
    } catch (error) {
      const retryInMs = waitBefore(attempt);
      const lasts = !isPassing(error) || performance.now() + retryInMs > giveUpAt;
      if (lasts) throw named(operation, error, attempt);
      onTrouble({ operation, error: error as Error, attempt, retryInMs });
      await delay(retryInMs);
    }
  }
};

/** The client enforces no deadline on its reads and batch calls. What comes after it is ignored. */
const withDeadline = async <T>(call: Promise<T>, milliseconds: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([call, deadline]);
  } finally {
    clearTimeout(timer);
  }
};

const named = (operation: string, error: unknown, attempts: number): unknown => {
  if (!isPassing(error) && !isCommandError(error as Error)) return error;
  const { message, type } = error as Error & { type?: ErrorType };
  const times = attempts === 1 ? '' : ` (${attempts} attempts)`;
  return new Error(`${operation} failed: ${message || type}${times}`, { cause: error });
};
