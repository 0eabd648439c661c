/** Returns the named methods of an object, each of which calls that of the object which is current then. */
export function delegate<Target extends object, Name extends keyof Target>(
  current: () => Target,
  names: readonly Name[],
): Pick<Target, Name> {
  const methodOf = (name: Name) => current()[name] as (...parameters: readonly unknown[]) => unknown;
  const methods = names.map((name) => [name, (...given: readonly unknown[]) => methodOf(name)(...given)]);
  return Object.fromEntries(methods);
}
