import { isDeepStrictEqual } from 'node:util';
import { notInForce, type TypeDefinition } from '../../shared/schema/type-definitions.ts';

type Members = Readonly<Record<string, unknown>>;

/** Longest shown text of an attribute's definition. */
const SHOWN = 120;

/**
 * Returns for each content type that is not in force its name and what differs first: an attribute of its schema or of a component, or
 * another part of them.
 */
export function describeDifferences(
  definitions: readonly TypeDefinition[],
  inForce: (uid: string) => string | undefined,
): readonly string[] {
  return notInForce(definitions, inForce).map((definition) => {
    const text = inForce(definition.uid);
    if (text === undefined) return `${definition.uid} is only in this folder`;
    const other = JSON.parse(text) as TypeDefinition;
    return `${definition.uid}: ${firstDifference(definition, other)}`;
  });
}

function firstDifference(own: TypeDefinition, other: TypeDefinition): string {
  const found = schemaDifference(own.schema, other.schema);
  if (found !== undefined) return found;
  for (const uid of namesOf(own.components, other.components)) {
    const inComponent = schemaDifference(own.components[uid], other.components[uid]);
    if (inComponent !== undefined) return `component ${uid}: ${inComponent}`;
  }
  if (own.defaultLocale !== other.defaultLocale)
    return `--default-locale is ${own.defaultLocale} here and ${other.defaultLocale} in force`;
  return 'the order of its attributes';
}

function schemaDifference(own: unknown, other: unknown): string | undefined {
  if (isDeepStrictEqual(own, other)) return undefined;
  if (own === undefined || other === undefined)
    return own === undefined ? 'only in force' : 'only in this folder';
  const [mine, theirs] = [membersOf(own), membersOf(other)];
  const [ours, others] = [membersOf(mine['attributes']), membersOf(theirs['attributes'])];
  for (const name of namesOf(ours, others)) {
    if (isDeepStrictEqual(ours[name], others[name])) continue;
    return `attribute ${name} is ${shown(ours[name])} here and ${shown(others[name])} in force`;
  }
  const name = namesOf(mine, theirs).find((each) => !isDeepStrictEqual(mine[each], theirs[each]));
  return name === undefined ? undefined : `its ${name}`;
}

function namesOf(one: object, other: object): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
