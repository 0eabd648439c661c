import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorType, isCommandError } from '@kurrent/kurrentdb-client';
import { type Backoff, backoffMs, jittered } from '../../backoff.ts';
import { valueWithin } from '../../value-within.ts';
import type { Trouble } from '../event-store.ts';
import { DeadlinePassed, mayPass, unknownFailure } from './kurrentdb-failure.ts';

export type RetryLimits = {
  /** Milliseconds for one call to the server. */
  readonly deadlineMs: number;
  /** Milliseconds for one operation with all its attempts. Subscriptions never give up. */
  readonly giveUpAfterMs: number;
  readonly onTrouble: (trouble: Trouble) => void;
  /** Explains what the operator must change; undefined if the error already says everything known. */
  readonly explain?: (operation: string, error: unknown) => Promise<FailureExplanation | undefined>;
};

/** Advice for an operator. `lasts`: no attempt succeeds before the operator changes something. */
export type FailureExplanation = { readonly sentence: string; readonly lasts: boolean };

/** Reports a failure that is retried, with its explanation, and resolves to the explanation. Does not delay the next attempt. */
export async function reportRetry(
  { onTrouble, explain }: RetryLimits,
  trouble: Trouble,
): Promise<FailureExplanation | undefined> {
  const explanation = await explain?.(trouble.operation, trouble.error).catch(() => undefined);
  const unknown = unknownFailure(trouble.error);
  const sentence = explanation?.sentence ?? (unknown && `${trouble.error.message} (${unknown})`);
  const error = sentence === undefined ? trouble.error : new Error(sentence, { cause: trouble.error });
  try {
    onTrouble({ ...trouble, error });
  } catch {
    // Nothing awaits this function, so a failed report must not end the process.
  }
  return explanation;
}

/** After an election, the new leader is found within a second. */
const BACKOFF: Backoff = { firstMs: 50, longestMs: 1_000 };

/** Returns the milliseconds before the attempt with this number. */
export function waitBefore(attempt: number): number {
  return jittered(backoffMs(attempt, BACKOFF));
}

/** Returns whether the same call, or the operation that failed with it, may succeed later. */
export function isPassing(failure: unknown): boolean {
  return mayPass(causeOf(failure));
}

/**
 * Repeats the call until it succeeds, fails permanently, or the time limit passes. `call` must end within its deadline and must be
 * repeatable, because a failed attempt may have taken effect. Rejects with an error that names the operation.
 */
export async function retrying<T>(
  operation: string,
  retryLimits: RetryLimits,
  call: () => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + retryLimits.giveUpAfterMs;
  let lasts = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const retryInMs = waitBefore(attempt);
      const passes = isPassing(error) || (await isExplainedAsPassing(retryLimits, operation, error));
      const isLast = lasts || !passes || performance.now() + retryInMs > giveUpAt;
      if (isLast) throw await explained(retryLimits, operation, named(operation, error, attempt));
      // Never rejects: `reportRetry` ignores failures of a report.
      void reportRetry(retryLimits, { operation, error: error as Error, attempt, retryInMs }).then(
        (explanation) => {
          lasts = explanation?.lasts === true;
        },
      );
      await delay(retryInMs);
    }
  }
}

/** Returns whether a refusal may be put right without a change here: a password in a file, which is about to be replaced. */
async function isExplainedAsPassing(
  { explain }: RetryLimits,
  operation: string,
  error: unknown,
): Promise<boolean> {
  const explanation = await explain?.(operation, error).catch(() => undefined);
  return explanation?.lasts === false;
}

/** Returns the result of a promise. Rejects with DeadlinePassed if it takes longer, and ignores its later result. */
export async function withDeadline<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  const inTime = await valueWithin(
    milliseconds,
    promise.then((value) => ({ value })),
  );
  if (inTime === undefined) throw new DeadlinePassed(milliseconds);
  return inTime.value;
}

/** Error for an operation whose attempts all failed. Its cause says whether it may succeed later. */
class OperationFailed extends Error {}

function causeOf(error: unknown): unknown {
  return error instanceof OperationFailed ? error.cause : error;
}

/** Returns a failure with the name of its operation and the number of attempts. An error of the program itself stays as it is. */
export function named(operation: string, failure: unknown, attempts: number): unknown {
  const error = causeOf(failure);
  if (!isPassing(error) && !isCommandError(error as Error)) return error;
  const { message, type } = error as Error & { type?: ErrorType };
  const times = attempts === 1 ? '' : ` (${attempts} attempts)`;
  return new OperationFailed(`${operation} failed: ${message || type}${times}`, { cause: error });
}

/** Returns the failure of an operation with advice for the operator. */
export async function explained(
  { explain }: RetryLimits,
  operation: string,
  failure: unknown,
): Promise<unknown> {
  const cause = causeOf(failure);
  const explanation = await explain?.(operation, cause).catch(() => undefined);
  if (explanation === undefined) return failure;
  return new OperationFailed(`${operation} failed: ${explanation.sentence}`, { cause });
}
