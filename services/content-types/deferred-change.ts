import type { ShapeChange } from '../../projections/generations/shape.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { notInForce, type TypeDefinition } from '../../shared/schema/type-definitions.ts';

type GraphTypes = Pick<ContentGraph, 'registry' | 'definition'>;

/** Returns the changes of these definitions that `changesOf` finds in each; empty if what is stored can be read as it is. */
export function storedChanges(
  graph: GraphTypes,
  definitions: readonly TypeDefinition[],
  changesOf: (before: TypeDefinition, now: TypeDefinition) => readonly ShapeChange[],
): readonly ShapeChange[] {
  return notInForce(definitions, graph.definition).flatMap((now) => {
    const before = graph.definition(now.uid);
    return before === undefined ? [] : changesOf(JSON.parse(before) as TypeDefinition, now);
  });
}

/** The content types of a process. */
export type OwnTypes = {
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
};

/** The content types that a process serves, and the changes that another process will make. */
export type SettledTypes = OwnTypes & { readonly deferred: readonly ShapeChange[] };

/**
 * Returns the content types of the folder. A process that cannot become leader does not change content types: if the folder has changed
 * since the server started, it returns those in force.
 */
export function ownTypes(graph: GraphTypes, folder: OwnTypes, mayLead: boolean): OwnTypes {
  if (mayLead) return folder;
  return notInForce(folder.definitions, graph.definition).length === 0 ? folder : typesOfGraph(graph);
}

/** Returns the content types in force, whatever the folder has. */
export function typesOfGraph(graph: GraphTypes): OwnTypes {
  const registry = graph.registry();
  const definitions = [...registry.contentTypes.keys()].flatMap((uid) => {
    const text = graph.definition(uid);
    return text === undefined ? [] : [JSON.parse(text) as TypeDefinition];
  });
  return { registry, definitions };
}
