import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** The name of each content type and component among the document's schemas: `Restaurant`, `Component.CommonAddress`. */
export type SchemaNames = ReadonlyMap<Uid, string>;

/** Returns a unique name for each model. Names of shared schemas begin with a small letter. */
export function schemaNames(registry: SchemaRegistry): SchemaNames {
  const names = new Map<Uid, string>();
  const taken = new Set<string>();
  const add = (uid: Uid, name: string) => {
    let unique = name;
    for (let number = 2; taken.has(unique); number += 1) unique = `${name}${number}`;
    taken.add(unique);
    names.set(uid, unique);
  };
  for (const { uid, singularName } of registry.contentTypes.values()) add(uid, pascalCase(singularName));
  for (const { uid } of registry.components.values()) add(uid, `Component.${pascalCase(uid)}`);
  return names;
}

/** Returns the schema name of a model. Throws for a model of another registry, which is a bug. */
export function nameOf(names: SchemaNames, uid: Uid): string {
  const name = names.get(uid);
  if (name === undefined) throw new Error(`${uid} has no schema name`);
  return name;
}

/** `common.opening-hours` → `CommonOpeningHours` */
export function pascalCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
