/**
 * Returns the methods of an object that may be replaced: each call is passed to the current object. Members that are not methods have to
 * be overwritten.
 */
export function delegate<Target extends object>(current: () => Target): Target {
  const names = Object.keys(current()) as (keyof Target)[];
  const methodOf = (name: keyof Target) => current()[name] as (...parameters: readonly unknown[]) => unknown;
  const methods = names.map((name) => [name, (...given: readonly unknown[]) => methodOf(name)(...given)]);
  return Object.fromEntries(methods);
}
