/** Returns the named methods of an object that may be replaced: each call is passed to the current object. */
export function delegate<Target extends object, Name extends keyof Target>(
  current: () => Target,
  names: readonly Name[],
): Pick<Target, Name> {
  const methodOf = (name: Name) => current()[name] as (...parameters: readonly unknown[]) => unknown;
  const methods = names.map((name) => [name, (...given: readonly unknown[]) => methodOf(name)(...given)]);
  return Object.fromEntries(methods);
}
