import type { Json } from '../json.ts';
import { buildRegistry, type ParsedFiles, type SchemaFile } from './build-registry.ts';
import { allowedComponents } from './component-uids.ts';
import type { Model, Uid } from './content-type.ts';
import { contentTypeOf, type SchemaRegistry } from './schema-registry.ts';

/** A content type with the components it can contain, as stored in the log. */
export type TypeDefinition = {
  readonly uid: Uid;
  /** schema.json as it was read; null for a built-in type, which the code defines. */
  readonly schema: Json;
  /** All components that the type can contain, by uid, as they were read. */
  readonly components: { readonly [uid: Uid]: Json };
  /**
   * Locale of entries that have none when the type becomes localized. When the type is no longer localized, the entries of this locale
   * remain.
   */
  readonly defaultLocale: string;
};

/** Returns the definitions of all content types, ordered by uid. */
export function definitionsOf({ registry, sources }: ParsedFiles, defaultLocale: string): TypeDefinition[] {
  return [...registry.contentTypes.values()]
    .map((type): TypeDefinition => {
      const uids = [...addComponents(type, registry, new Set())].sort();
      const components = Object.fromEntries(uids.map((uid) => [uid, sources.get(uid) as Json]));
      return { uid: type.uid, schema: (sources.get(type.uid) ?? null) as Json, components, defaultLocale };
    })
    .sort((a, b) => (a.uid < b.uid ? -1 : 1));
}

/**
 * Returns the registry of definitions from the log, in their order. If several define the same component, the last one counts. They were
 * checked when they were written. Between two of them a target may be missing, so nothing is checked here.
 */
export function registryOfDefinitions(definitions: readonly TypeDefinition[]): SchemaRegistry {
  const components = new Map<Uid, Json>(definitions.flatMap((each) => Object.entries(each.components)));
  const files: SchemaFile[] = [...components].map(([uid, json]) => ({
    model: 'component',
    file: uid,
    uid,
    json,
  }));
  for (const { uid, schema } of definitions) {
    const namespace = uid.slice(0, uid.lastIndexOf('.'));
    if (schema !== null) files.push({ model: 'contentType', file: uid, namespace, json: schema });
  }
  return buildRegistry(files).registry;
}

/** Returns the definition of a type as JSON; undefined if it has none. */
export type DefinitionText = (uid: Uid) => string | undefined;

/**
 * Returns the definitions that are not in force. It compares texts, because the order of attributes is the order of the keys in answers.
 */
export function notInForce(
  definitions: readonly TypeDefinition[],
  inForce: DefinitionText,
): readonly TypeDefinition[] {
  return definitions.filter((definition) => inForce(definition.uid) !== JSON.stringify(definition));
}

/** Returns a content type as its definition describes it, and a registry with its components. The registry has no other content types. */
export function modelOfDefinition(definition: TypeDefinition) {
  const registry = registryOfDefinitions([definition]);
  return { registry, model: contentTypeOf(registry, definition.uid) };
}

function addComponents(model: Model, registry: SchemaRegistry, found: Set<Uid>): Set<Uid> {
  for (const attribute of model.attributes.values()) {
    for (const uid of allowedComponents(attribute)) {
      const component = registry.components.get(uid);
      if (component === undefined || found.has(uid)) continue;
      found.add(uid);
      addComponents(component, registry, found);
    }
  }
  return found;
}
