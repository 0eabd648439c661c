/** Returns `make` with a cache: each object has one result, which is kept as long as the object. */
export function remembered<Key extends object, Result>(make: (key: Key) => Result): (key: Key) => Result {
  const results = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known.result;
    const result = make(key);
    results.set(key, { result });
    return result;
  };
}

/** Returns `make` with a cache for the last argument only. */
export function rememberLast<Argument extends object, Result>(
  make: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let last: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: make(argument) };
    return last.result;
  };
}
