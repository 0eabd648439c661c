import { valueAt } from '../../../map-values.ts';
import type { Component, Model, RelationAttribute, Uid } from '../../../schema/content-type.ts';
import {
  componentOf,
  contentTypeOf,
  relationSide,
  type SchemaRegistry,
} from '../../../schema/schema-registry.ts';
import { isContentType, localizationsAttribute } from '../../../schema/system-attributes.ts';
import {
  type ComponentStep,
  type RowSet,
  type RowVersion,
  rowVersion,
  type World,
} from '../../read-index.ts';
import { createLinks, type Links } from './links.ts';
import type { ChangeLogs } from './row-changes.ts';
import { type ComponentRowSet, createRowSet, type RowSetIndex, type Step } from './row-set.ts';

/** All row sets of an index. Each is created when it is first needed. */
export type RowSets = {
  readonly registry: SchemaRegistry;
  readonly reuseOrdinalsAfter: number;
  readonly byVersion: { readonly [version in RowVersion]: Map<Uid, RowSetIndex> };
  readonly logs: ChangeLogs;
  created: number;
};

/** Version of the rows of types without draft & publish. */
const UNVERSIONED = 'live' satisfies RowVersion;

/** Creates an index without row sets. `reuseOrdinalsAfter`: see `EmbeddedIndexOptions`. */
export function createRowSets(registry: SchemaRegistry, reuseOrdinalsAfter: number): RowSets {
  const byVersion = { draft: new Map(), published: new Map(), [UNVERSIONED]: new Map() };
  return { registry, reuseOrdinalsAfter, byVersion, logs: new Map(), created: 0 };
}

/** Returns the row set of a content type's rows of one version. */
export function versionRowSet(rowSets: RowSets, type: Uid, version: RowVersion): RowSetIndex {
  return valueAt(rowSets.byVersion[version], type, () =>
    newRowSet(rowSets, { type, version, path: [] }, contentTypeOf(rowSets.registry, type)),
  );
}

/** Returns all existing row sets of content types. */
export function versionRowSets({ byVersion }: RowSets): readonly RowSetIndex[] {
  return Object.values(byVersion).flatMap((rowSets) => [...rowSets.values()]);
}

/** Returns the row set of a content type's rows in a world. */
export function worldRowSet(rowSets: RowSets, type: Uid, world: World): RowSetIndex {
  return (
    rowSets.byVersion[world].get(type) ??
    rowSets.byVersion[UNVERSIONED].get(type) ??
    versionRowSet(rowSets, type, rowVersion(contentTypeOf(rowSets.registry, type).draftAndPublish, world))
  );
}

/** Returns the row set at an address, in a world. Creates missing ones along the path. Throws if the schema has no such path. */
export function rowSetAt(rowSets: RowSets, address: RowSet, world: World): RowSetIndex {
  let rowSet = worldRowSet(rowSets, address.type, world);
  for (const step of address.path) rowSet = componentBelow(rowSets, rowSet, step).rowSet;
  return rowSet;
}

/** Returns the row set of components of one kind below `rowSet` at `step`. */
export function componentBelow(rowSets: RowSets, rowSet: RowSetIndex, step: ComponentStep): ComponentRowSet {
  const { attribute, zoneComponent } = step;
  const name = zoneComponent === undefined ? attribute : `${attribute} ${zoneComponent}`;
  return valueAt(rowSet.components, name, () => {
    const component = componentAt(rowSets, rowSet, step);
    const address = { type: rowSet.type, version: rowSet.version, path: [...rowSet.path, step] };
    const below = newRowSet(rowSets, address, component);
    const links = createLinks();
    below.incoming.push(links);
    return { attribute, component: component.uid, rowSet: below, links };
  });
}

/** Returns the links that `attribute` of `owner` owns in a world. */
export function linksOfRowSet(rowSets: RowSets, owner: RowSetIndex, attribute: string, world: World): Links {
  return valueAt(owner.links[world], attribute, () => {
    const links = createLinks();
    linkTarget(rowSets, owner, attribute, world).incoming.push(links);
    return links;
  });
}

/** Returns the step from rows of `rowSet` through a relation or component attribute. */
export function stepFrom(rowSets: RowSets, rowSet: RowSetIndex, world: World, attribute: string): Step {
  return valueAt(rowSet.steps[world], attribute, () => newStep(rowSets, rowSet, world, attribute));
}

/** Returns the steps from rows of `rowSet` along a path of relations and components, and the row set at their end. */
export function stepsFrom(rowSets: RowSets, rowSet: RowSetIndex, world: World, path: readonly string[]) {
  let end = rowSet;
  const steps = path.map((attribute) => {
    const step = stepFrom(rowSets, end, world, attribute);
    end = step.target;
    return step;
  });
  return { steps, end };
}

/** Returns the step from rows of `rowSet` to components of one kind in a dynamic zone. */
export function zoneStepFrom(
  rowSets: RowSets,
  rowSet: RowSetIndex,
  world: World,
  { attribute, component }: { readonly attribute: string; readonly component: Uid },
): Step {
  return valueAt(rowSet.steps[world], `${attribute} ${component}`, () =>
    stepToComponents(rowSets, rowSet, { attribute, zoneComponent: component }),
  );
}

function newStep(rowSets: RowSets, rowSet: RowSetIndex, world: World, attribute: string): Step {
  const definition = rowSet.model.attributes.get(attribute);
  if (definition?.kind === 'component') return stepToComponents(rowSets, rowSet, { attribute });
  if (definition?.kind === 'relation' && definition.mappedBy !== undefined) {
    const { ownerType, ownerAttribute } = relationSide(rowSet.type, definition);
    const owner = worldRowSet(rowSets, ownerType, world);
    const links = linksOfRowSet(rowSets, owner, ownerAttribute, world);
    return { target: owner, down: links.backward, up: links.forward };
  }
  const links = linksOfRowSet(rowSets, rowSet, attribute, world);
  return { target: linkTarget(rowSets, rowSet, attribute, world), down: links.forward, up: links.backward };
}

function stepToComponents(rowSets: RowSets, rowSet: RowSetIndex, step: ComponentStep): Step {
  const below = componentBelow(rowSets, rowSet, step);
  return { target: below.rowSet, down: below.links.forward, up: below.links.backward };
}

function linkTarget(rowSets: RowSets, owner: RowSetIndex, attribute: string, world: World): RowSetIndex {
  const definition = owner.model.attributes.get(attribute) ?? localizations(owner.model, attribute);
  if (definition?.kind === 'relation') return worldRowSet(rowSets, definition.target, world);
  throw new Error(`${owner.model.uid} has no relation ${attribute}`);
}

function localizations(model: Model, attribute: string): RelationAttribute | undefined {
  const relation = isContentType(model) ? localizationsAttribute(model) : undefined;
  return relation?.name === attribute ? relation : undefined;
}

function componentAt(rowSets: RowSets, rowSet: RowSetIndex, step: ComponentStep): Component {
  const definition = rowSet.model.attributes.get(step.attribute);
  if (definition?.kind === 'component' && step.zoneComponent === undefined) {
    return componentOf(rowSets.registry, definition.component);
  }
  if (definition?.kind === 'dynamiczone' && step.zoneComponent !== undefined) {
    if (definition.components.includes(step.zoneComponent)) {
      return componentOf(rowSets.registry, step.zoneComponent);
    }
  }
  throw new Error(`${rowSet.model.uid} has no components at ${JSON.stringify(step)}`);
}

function newRowSet(
  rowSets: RowSets,
  address: { readonly type: Uid; readonly version: RowVersion; readonly path: readonly ComponentStep[] },
  model: Model,
): RowSetIndex {
  return createRowSet(address, model, rowSets.created++, rowSets.reuseOrdinalsAfter);
}
