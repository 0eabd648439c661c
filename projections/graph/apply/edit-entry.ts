import type { EntryChanged, EntryValues, RelationOperation } from '../../../shared/document/events.ts';
import { type ComponentLinks, componentKeys, storedValues } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { newLink, removeLinks } from '../store/link-store.ts';
import type { Values } from '../store/present-row.ts';
import { DRAFT, type VersionNumber, worldsOf } from '../store/row-keys.ts';
import { applyRelationOperation } from './apply-relation-operation.ts';
import { type GraphContext, relationEditing } from './graph-context.ts';

/** Changes of one entry in an event. */
export type EntryEdit = Pick<EntryChanged['data'], 'values' | 'relations'>;

/** Applies values and relation operations to the edited row of an entry and its worlds. */
export function editEntry(context: GraphContext, entry: GraphEntry, row: GraphRow, edit: EntryEdit): void {
  context.session.touch(entry, entry.view.edited);
  row.values = editedValues(context, entry, row.values, edit.values);
  context.keptValues.edited(entry.id, entry.view.edited, Object.keys(edit.values));
  for (const [at, operation] of edit.relations.entries()) {
    const isFirst = edit.relations.findIndex(({ attribute }) => attribute === operation.attribute) === at;
    editRelation(context, entry, operation, entry.isNew && isFirst);
  }
}

function editedValues(
  context: GraphContext,
  entry: GraphEntry,
  before: Values,
  changed: EntryValues,
): Values {
  const { registry } = context.schema;
  let kept: ReadonlySet<string> | undefined;
  const isKept = (uid: string, id: number) => {
    kept ??= new Set(componentKeys(registry, entry.view.type, before));
    return kept.has(`${uid} ${id}`);
  };
  const values = storeValues(context, entry, { version: entry.view.edited, isKept }, changed);
  return { ...before, ...values };
}

/** Version whose values are stored. `isKept`: returns whether a component of kind `uid` keeps its id. */
export type StoredVersion = {
  readonly version: VersionNumber;
  readonly isKept: (uid: string, id: number) => boolean;
};

/** Returns values of attributes as they are stored, and replaces the links inside these attributes. */
export function storeValues(
  context: GraphContext,
  entry: GraphEntry,
  { version, isKept }: StoredVersion,
  changed: EntryValues,
): Values {
  const { registry } = context.schema;
  const nextId = (uid: string) => context.sequences.next(`component ${uid}`);
  return storedValues({ registry, isKept, nextId }, entry.view.type, changed, (name, links) => {
    if (!entry.isNew) removeComponentLinks(context, entry, version, name);
    for (const link of links) addComponentLinks(context, entry, version, link);
  });
}

/**
 * Removes the links of a component attribute, because the attribute is replaced as a whole. Components that remain get their links again.
 */
function removeComponentLinks(
  { links }: GraphContext,
  entry: GraphEntry,
  version: VersionNumber,
  attribute: string,
): void {
  const removed = links
    .ownedBy(entry.id)
    .filter(({ component, relation }) => component !== 0 && relation.rowSet.path[0]?.attribute === attribute);
  removeLinks(links, removed, worldsOf(version));
}

function addComponentLinks(
  { links, names, schema, sequences }: GraphContext,
  entry: GraphEntry,
  version: VersionNumber,
  { path, attribute, component, targets }: ComponentLinks,
): void {
  const relation = schema.relation({ type: entry.view.uid, path }, attribute);
  const entries = [
    ...new Set(targets.map(({ documentId, locale }) => names.entry(relation.targetType, documentId, locale))),
  ];
  for (const target of relation.toOne ? entries.slice(-1) : entries) {
    const record = newLink(relation, entry.id, component, target);
    const number = sequences.next('link');
    for (const world of worldsOf(version)) {
      record.orders[world] = { sourceOrder: number, targetOrder: number };
    }
    links.save(record);
  }
}

/**
 * Applies a relation operation in the entry's worlds: the draft world, or both if the type has no draft & publish. Returns whether a link
 * changed. `isNew`: the entry cannot have links of this relation yet, so none are read.
 */
export function editRelation(
  context: GraphContext,
  entry: GraphEntry,
  operation: RelationOperation,
  isNew = false,
): boolean {
  const side = entry.view.relation(operation.attribute);
  if (side.side === 'owner')
    context.keptLinks.edited(entry.id, side.relation.id, worldsOf(entry.view.edited));
  const isSelf = side.relation.target === side.relation.rowSet.type;
  const touched = applyRelationOperation(
    relationEditing(context),
    { side, entry: entry.id, worlds: worldsOf(entry.view.edited), isNew: isNew && !isSelf },
    operation,
  );
  for (const { relation, source, target } of touched) {
    if (side.side === 'owner') context.pending.forget(relation, source, target);
    else if (entry.view.edited === DRAFT) context.pending.note(relation, source, target, entry.id);
  }
  return touched.length > 0;
}
