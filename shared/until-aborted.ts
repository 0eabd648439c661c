/**
 * Value of a promise; undefined once the signal is aborted. Rejects if the promise rejects before. Leaves nothing behind on the signal: a
 * race with a promise that is never settled would keep some memory of each call.
 */
export async function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  const abort = () => aborted.resolve(undefined);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
