/** Returns the members that are not undefined: `{ ...defined({ name }) }` has a `name` only if `name` is defined. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const kept: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name];
  return kept as Defined<Members>;
}

type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };
