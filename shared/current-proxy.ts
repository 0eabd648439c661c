/**
 * Creates a proxy for the object that `current` returns at each call. Its methods, and those of its parts, may be stored and
 * always reach the current object. For objects of functions that do not use `this`; the members are those of the first
 * object. `own`: members of the proxy itself.
 */
export function currentProxy<Target extends object, Own extends object = Partial<Target>>(
  current: () => Target,
  own?: Own,
): Target & Own {
  const members = new Map<PropertyKey, unknown>(Object.entries(own ?? {}));
  const get = (name: PropertyKey): unknown => {
    const known = members.get(name);
    if (known !== undefined) return known;
    const now = () => Reflect.get(current(), name) as unknown;
    const value = now();
    const member = memberOf(value, now);
    if (member !== value) members.set(name, member);
    return member;
  };
  return new Proxy({} as Target & Own, {
    get: (_target, name) => get(name),
    // Copies of it, by spreading, have all members.
    ownKeys: () => [...new Set([...Reflect.ownKeys(current()), ...Reflect.ownKeys(own ?? {})])],
    getOwnPropertyDescriptor: (_target, name) => ({ value: get(name), enumerable: true, configurable: true }),
  });
}

/** A member that is neither a function nor a part, such as a promise, is read at each access. */
function memberOf(value: unknown, now: () => unknown): unknown {
  if (typeof value === 'function')
    return (...args: unknown[]) => (now() as (...args: unknown[]) => unknown)(...args);
  if (typeof value !== 'object' || value === null || value instanceof Promise) return value;
  return currentProxy(() => now() as object);
}
