import { isReachable } from '../../../schema/schema-registry.ts';
import { componentStep } from '../../component-step.ts';
import type { IndexedComponent, IndexedRow, LinkChange, RowChange } from '../../read-index.ts';
import { listValues } from '../lists/row-lists.ts';
import { connectRows, disconnect, disconnectSource, disconnectTarget, type Links } from '../rows/links.ts';
import { type ComponentRowSet, ensureRow, type RowSetIndex, removeRow, setFields } from '../rows/row-set.ts';
import {
  componentBelow,
  linksOfRowSet,
  type RowSets,
  rowSetAt,
  stepFrom,
  versionRowSet,
} from '../rows/row-sets.ts';
import type { SourceBlocks } from './source-blocks.ts';
import { forgetSource, keepSource } from './source-store.ts';

export type BatchTarget = {
  readonly rowSets: RowSets;
  readonly sources: SourceBlocks;
};

/** Applies changes of rows and their components, in order. Removes the links of removed rows at both ends. */
export function applyRows(index: BatchTarget, changes: readonly RowChange[]): void {
  for (const change of changes) {
    const rowSet = versionRowSet(index.rowSets, change.type, change.version);
    if (change.row !== null) putRow(index, rowSet, change.key, change.row);
    else {
      const row = rowSet.ordinals.get(change.key);
      if (row !== undefined) dropRow(index, rowSet, row);
    }
  }
}

/** Applies changes of links. Skips links between rows that do not exist, because a replayed batch may name rows that were removed later. */
export function applyLinks(index: BatchTarget, changes: readonly LinkChange[]): void {
  let last: LinkChange | undefined;
  let ends: LinkEnds | undefined;
  for (const change of changes) {
    // Changes of one relation come in runs, so its arrays are looked up once.
    const again =
      last !== undefined &&
      change.rowSet === last.rowSet &&
      change.attribute === last.attribute &&
      change.world === last.world;
    if (!again) ends = linkEnds(index.rowSets, change);
    last = change;
    if (ends !== undefined) applyLink(ends, change);
  }
}

type LinkEnds = { readonly source: RowSetIndex; readonly target: RowSetIndex; readonly links: Links };

/** Returns the ends of a changed link; undefined if no query may use the relation, because it is private on both sides. */
function linkEnds(rowSets: RowSets, change: LinkChange): LinkEnds | undefined {
  const source = rowSetAt(rowSets, change.rowSet, change.world);
  const definition = source.model.attributes.get(change.attribute);
  const links = linksOfRowSet(rowSets, source, change.attribute, change.world);
  const target = stepFrom(rowSets, source, change.world, change.attribute).target;
  if (definition?.kind === 'relation' && !isReachable(rowSets.registry, definition)) return undefined;
  return { source, target, links };
}

function applyLink({ source, target, links }: LinkEnds, change: LinkChange): void {
  const from = source.ordinals.get(change.source);
  const to = target.ordinals.get(change.target);
  if (from === undefined || to === undefined) return;
  if (change.order === null) disconnect(links, from, to);
  else connectRows(links, from, to, change.order);
}

function putRow(index: BatchTarget, rowSet: RowSetIndex, key: number, row: IndexedRow): number {
  const ordinal = ensureRow(rowSet, key);
  setFields(rowSet, ordinal, row.fields);
  keepSource(index.sources, rowSet, ordinal, row.source);
  putComponents(index, rowSet, ordinal, row.components);
  return ordinal;
}

function putComponents(
  index: BatchTarget,
  parent: RowSetIndex,
  parentRow: number,
  components: IndexedRow['components'],
): void {
  for (const [attribute, items] of Object.entries(components))
    ensureRowSets(index.rowSets, parent, attribute, items);
  for (const below of parent.components.values()) {
    const wanted = (components[below.attribute] ?? [])
      .map((component, slot) => ({ component, slot }))
      .filter(({ component }) => component.component === below.component);
    replaceChildren(index, below, parentRow, wanted);
  }
}

function ensureRowSets(
  rowSets: RowSets,
  parent: RowSetIndex,
  attribute: string,
  items: readonly IndexedComponent[],
): void {
  const definition = parent.model.attributes.get(attribute);
  // Attributes that the schema hides or no longer has are not indexed.
  if (definition === undefined || definition.private) return;
  for (const { component } of items) componentBelow(rowSets, parent, componentStep(definition, component));
}

function replaceChildren(
  index: BatchTarget,
  below: ComponentRowSet,
  parentRow: number,
  wanted: readonly { readonly component: IndexedComponent; readonly slot: number }[],
): void {
  const { rowSet, links } = below;
  const before = listValues(links.forward.lists, parentRow);
  const after = new Set<number>();
  for (const { component, slot } of wanted) {
    const row = putRow(index, rowSet, component.key, component);
    const [parent] = listValues(links.backward.lists, row);
    if (parent !== undefined && parent !== parentRow) disconnect(links, parent, row);
    connectRows(links, parentRow, row, { sourceOrder: slot, targetOrder: 0 });
    after.add(row);
  }
  for (const row of before) if (!after.has(row)) dropRow(index, rowSet, row);
}

function dropRow(index: BatchTarget, rowSet: RowSetIndex, row: number): void {
  for (const below of rowSet.components.values()) {
    for (const child of listValues(below.links.forward.lists, row)) dropRow(index, below.rowSet, child);
  }
  for (const world of [rowSet.links.draft, rowSet.links.published]) {
    for (const links of world.values()) disconnectSource(links, row);
  }
  for (const links of rowSet.incoming) disconnectTarget(links, row);
  forgetSource(index.sources, rowSet, row);
  removeRow(rowSet, row);
}
