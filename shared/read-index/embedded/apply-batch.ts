import type { Attribute } from '../../schema/content-type.ts';
import type { IndexedComponent, IndexedRow, LinkChange, RowChange } from '../read-index.ts';
import { connectRows, disconnect, disconnectSource, disconnectTarget, type Links } from './links.ts';
import { listValues } from './row-lists.ts';
import { type ComponentSpace, ensureRow, type RowSpaceIndex, removeRow, setFields } from './row-space.ts';
import { forgetSource, keepSource, type SourceStore } from './source-store.ts';
import { componentBelow, linksOfSpace, type Spaces, spaceAt, stepFrom, versionSpace } from './spaces.ts';

export type BatchTarget = {
  readonly spaces: Spaces;
  readonly sources: SourceStore;
};

export function applyRows(index: BatchTarget, changes: readonly RowChange[]): void {
  for (const change of changes) {
    const space = versionSpace(index.spaces, change.type, change.version);
    if (change.row !== null) putRow(index, space, change.key, change.row);
    else {
      const row = space.ordinals.get(change.key);
      if (row !== undefined) dropRow(index, space, row);
    }
  }
}

/** Skips links between rows that do not exist (any more): a replayed batch may name them. */
export function applyLinks(index: BatchTarget, changes: readonly LinkChange[]): void {
  let last: LinkChange | undefined;
  let ends: LinkEnds | undefined;
  for (const change of changes) {
    // Changes of one relation come in runs: look its arrays up once.
    const again =
      last !== undefined &&
      change.space === last.space &&
      change.attribute === last.attribute &&
      change.world === last.world;
    if (!again) ends = linkEnds(index.spaces, change);
    last = change;
    if (ends !== undefined) applyLink(ends, change);
  }
}

type LinkEnds = { readonly source: RowSpaceIndex; readonly target: RowSpaceIndex; readonly links: Links };

/** undefined for a relation that is private on both sides: nothing may be asked of it. */
function linkEnds(spaces: Spaces, change: LinkChange): LinkEnds | undefined {
  const source = spaceAt(spaces, change.space, change.world);
  const definition = source.model.attributes.get(change.attribute);
  const links = linksOfSpace(spaces, source, change.attribute, change.world);
  const target = stepFrom(spaces, source, change.world, change.attribute).target;
  return isReachable(definition, target) ? { source, target, links } : undefined;
}

function isReachable(definition: Attribute | undefined, target: RowSpaceIndex): boolean {
  if (definition?.kind !== 'relation' || !definition.private) return true;
  if (definition.inversedBy === undefined) return false;
  return target.model.attributes.get(definition.inversedBy)?.private === false;
}

function applyLink({ source, target, links }: LinkEnds, change: LinkChange): void {
  const from = source.ordinals.get(change.source);
  const to = target.ordinals.get(change.target);
  if (from === undefined || to === undefined) return;
  if (change.order === null) disconnect(links, from, to);
  else connectRows(links, from, to, change.order);
}

function putRow(index: BatchTarget, space: RowSpaceIndex, key: number, row: IndexedRow): number {
  const ordinal = ensureRow(space, key);
  setFields(space, ordinal, row.fields);
  keepSource(index.sources, space, ordinal, row.source);
  putComponents(index, space, ordinal, row.components);
  return ordinal;
}

function putComponents(
  index: BatchTarget,
  parent: RowSpaceIndex,
  parentRow: number,
  components: IndexedRow['components'],
): void {
  for (const attribute of Object.keys(components)) ensureSpaces(index.spaces, parent, attribute, components);
  for (const below of parent.components.values()) {
    const wanted = (components[below.attribute] ?? [])
      .map((component, place) => ({ component, place }))
      .filter(({ component }) => component.component === below.component);
    replaceChildren(index, below, parentRow, wanted);
  }
}

function ensureSpaces(
  spaces: Spaces,
  parent: RowSpaceIndex,
  attribute: string,
  components: IndexedRow['components'],
): void {
  const definition = parent.model.attributes.get(attribute);
  // Attributes that the schema hides or no longer has are not indexed.
  if (definition === undefined || definition.private) return;
  for (const { component } of components[attribute] ?? []) {
    const inZone = definition.kind === 'dynamiczone';
    componentBelow(spaces, parent, inZone ? { attribute, zoneComponent: component } : { attribute });
  }
}

function replaceChildren(
  index: BatchTarget,
  below: ComponentSpace,
  parentRow: number,
  wanted: readonly { readonly component: IndexedComponent; readonly place: number }[],
): void {
  const { space, links } = below;
  const before = listValues(links.forward.lists, parentRow);
  const after = new Set<number>();
  for (const { component, place } of wanted) {
    const row = putRow(index, space, component.key, component);
    const [parent] = listValues(links.backward.lists, row);
    if (parent !== undefined && parent !== parentRow) disconnect(links, parent, row);
    connectRows(links, parentRow, row, { sourceOrder: place, targetOrder: 0 });
    after.add(row);
  }
  for (const row of before) if (!after.has(row)) dropRow(index, space, row);
}

function dropRow(index: BatchTarget, space: RowSpaceIndex, row: number): void {
  for (const below of space.components.values()) {
    for (const child of listValues(below.links.forward.lists, row)) dropRow(index, below.space, child);
  }
  for (const world of [space.links.draft, space.links.published]) {
    for (const links of world.values()) disconnectSource(links, row);
  }
  for (const links of space.incoming) disconnectTarget(links, row);
  forgetSource(index.sources, space, row);
  removeRow(space, row);
}
