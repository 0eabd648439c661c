/**
 * Returns the value of a promise; undefined once the signal is aborted. Rejects if the promise rejects before that. Removes its listener
 * from the signal. Otherwise a race with a promise that never settles would keep some memory of each call.
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
