/** Returns the value of a promise; undefined if it takes longer than `ms`. Rejects if the promise rejects in time. */
export async function valueWithin<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, ms, undefined);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
