import type { Component, Model, RelationAttribute, Uid } from '../../schema/content-type.ts';
import {
  componentOf,
  contentTypeOf,
  relationSide,
  type SchemaRegistry,
} from '../../schema/schema-registry.ts';
import { isContentType, localizationsAttribute } from '../../schema/system-attributes.ts';
import { type ComponentStep, type RowSpace, type RowVersion, rowVersion, type World } from '../read-index.ts';
import { createLinks, type Links } from './links.ts';
import { type ComponentSpace, createRowSpace, type RowSpaceIndex, type Step } from './row-space.ts';

/** Every row set of an index, created when first named. */
export type Spaces = {
  readonly registry: SchemaRegistry;
  readonly reuseOrdinalsAfter: number;
  readonly byVersion: { readonly [version in RowVersion]: Map<Uid, RowSpaceIndex> };
  created: number;
};

export function createSpaces(registry: SchemaRegistry, reuseOrdinalsAfter: number): Spaces {
  const byVersion = { draft: new Map(), published: new Map(), live: new Map() };
  return { registry, reuseOrdinalsAfter, byVersion, created: 0 };
}

/** Row set of a content type's rows of one version. */
export function versionSpace(spaces: Spaces, type: Uid, version: RowVersion): RowSpaceIndex {
  const existing = spaces.byVersion[version].get(type);
  if (existing !== undefined) return existing;
  const model = contentTypeOf(spaces.registry, type);
  const space = newSpace(spaces, { type, version, path: [] }, model);
  spaces.byVersion[version].set(type, space);
  return space;
}

/** Every existing row set of content types. */
export function versionSpaces({ byVersion }: Spaces): readonly RowSpaceIndex[] {
  return Object.values(byVersion).flatMap((spaces) => [...spaces.values()]);
}

/** Row set of a content type's rows in a world. */
export function worldSpace(spaces: Spaces, type: Uid, world: World): RowSpaceIndex {
  return (
    spaces.byVersion[world].get(type) ??
    spaces.byVersion.live.get(type) ??
    versionSpace(spaces, type, rowVersion(contentTypeOf(spaces.registry, type).draftAndPublish, world))
  );
}

export function spaceAt(spaces: Spaces, address: RowSpace, world: World): RowSpaceIndex {
  let space = worldSpace(spaces, address.type, world);
  for (const step of address.path) space = componentBelow(spaces, space, step).space;
  return space;
}

/** Components of one kind below `space` at `step`. */
export function componentBelow(spaces: Spaces, space: RowSpaceIndex, step: ComponentStep): ComponentSpace {
  const name = stepName(step);
  const existing = space.components.get(name);
  if (existing !== undefined) return existing;
  const component = componentAt(spaces, space, step);
  const address = { type: space.type, version: space.version, path: [...space.path, step] };
  const below: ComponentSpace = {
    attribute: step.attribute,
    component: component.uid,
    space: newSpace(spaces, address, component),
    links: createLinks(),
  };
  space.components.set(name, below);
  below.space.incoming.push(below.links);
  return below;
}

function stepName({ attribute, zoneComponent }: ComponentStep): string {
  return zoneComponent === undefined ? attribute : `${attribute} ${zoneComponent}`;
}

/** The links that `attribute` of `owner` owns in a world. */
export function linksOfSpace(spaces: Spaces, owner: RowSpaceIndex, attribute: string, world: World): Links {
  const existing = owner.links[world].get(attribute);
  if (existing !== undefined) return existing;
  const links = createLinks();
  owner.links[world].set(attribute, links);
  linkTarget(spaces, owner, attribute, world).incoming.push(links);
  return links;
}

/** Step from rows of `space` through a relation or component attribute. */
export function stepFrom(spaces: Spaces, space: RowSpaceIndex, world: World, attribute: string): Step {
  const existing = space.steps[world].get(attribute);
  if (existing !== undefined) return existing;
  const step = newStep(spaces, space, world, attribute);
  space.steps[world].set(attribute, step);
  return step;
}

/** Step from rows of `space` to components of one kind in a dynamic zone. */
export function zoneStepFrom(
  spaces: Spaces,
  space: RowSpaceIndex,
  world: World,
  { attribute, component }: { readonly attribute: string; readonly component: Uid },
): Step {
  const name = `${attribute} ${component}`;
  const existing = space.steps[world].get(name);
  if (existing !== undefined) return existing;
  const step = componentStep(spaces, space, { attribute, zoneComponent: component });
  space.steps[world].set(name, step);
  return step;
}

function newStep(spaces: Spaces, space: RowSpaceIndex, world: World, attribute: string): Step {
  const definition = space.model.attributes.get(attribute);
  if (definition?.kind === 'component') return componentStep(spaces, space, { attribute });
  if (definition?.kind === 'relation' && definition.mappedBy !== undefined) {
    const { ownerType, ownerAttribute } = relationSide(space.type, definition);
    const owner = worldSpace(spaces, ownerType, world);
    const links = linksOfSpace(spaces, owner, ownerAttribute, world);
    return { target: owner, down: links.backward, up: links.forward };
  }
  const links = linksOfSpace(spaces, space, attribute, world);
  return { target: linkTarget(spaces, space, attribute, world), down: links.forward, up: links.backward };
}

function componentStep(spaces: Spaces, space: RowSpaceIndex, step: ComponentStep): Step {
  const below = componentBelow(spaces, space, step);
  return { target: below.space, down: below.links.forward, up: below.links.backward };
}

function linkTarget(spaces: Spaces, owner: RowSpaceIndex, attribute: string, world: World): RowSpaceIndex {
  const definition = owner.model.attributes.get(attribute) ?? localizations(owner.model, attribute);
  if (definition?.kind === 'relation') return worldSpace(spaces, definition.target, world);
  throw new Error(`${owner.model.uid} has no relation ${attribute}`);
}

function localizations(model: Model, attribute: string): RelationAttribute | undefined {
  const relation = isContentType(model) ? localizationsAttribute(model) : undefined;
  return relation?.name === attribute ? relation : undefined;
}

function componentAt(spaces: Spaces, space: RowSpaceIndex, step: ComponentStep): Component {
  const definition = space.model.attributes.get(step.attribute);
  if (definition?.kind === 'component' && step.zoneComponent === undefined) {
    return componentOf(spaces.registry, definition.component);
  }
  if (definition?.kind === 'dynamiczone' && step.zoneComponent !== undefined) {
    if (definition.components.includes(step.zoneComponent)) {
      return componentOf(spaces.registry, step.zoneComponent);
    }
  }
  throw new Error(`${space.model.uid} has no components at ${JSON.stringify(step)}`);
}

function newSpace(
  spaces: Spaces,
  address: { readonly type: Uid; readonly version: RowVersion; readonly path: readonly ComponentStep[] },
  model: Model,
): RowSpaceIndex {
  return createRowSpace(address, model, spaces.created++, spaces.reuseOrdinalsAfter);
}
