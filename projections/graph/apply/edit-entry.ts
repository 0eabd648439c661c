import type { EntryChanged, EntryValues, RelationOperation } from '../../../shared/document/events.ts';
import { type ComponentLinks, componentKeys, storedValues } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { newLink, removeLinks } from '../store/link-store.ts';
import type { Values } from '../store/present-row.ts';
import { DRAFT, worldsOf } from '../store/row-keys.ts';
import { applyRelationOperation } from './apply-relation-operation.ts';
import { type GraphContext, relationEditing } from './graph-context.ts';

/** Changes of one entry in an event. */
export type EntryEdit = Pick<EntryChanged['data'], 'values' | 'relations'>;

/** Applies values and relation operations to the edited row of an entry and its worlds. */
export function editEntry(context: GraphContext, entry: GraphEntry, row: GraphRow, edit: EntryEdit): void {
  context.session.touch(entry, entry.view.edited);
  row.values = editedValues(context, entry, row.values, edit.values);
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
  const splitter = {
    registry,
    isKept(uid: string, id: number) {
      kept ??= new Set(componentKeys(registry, entry.view.type, before));
      return kept.has(`${uid} ${id}`);
    },
    nextId: (uid: string) => context.sequences.next(`component ${uid}`),
  };
  const values = storedValues(splitter, entry.view.type, changed, (name, links) => {
    if (!entry.isNew) removeComponentLinks(context, entry, name);
    for (const link of links) addComponentLinks(context, entry, link);
  });
  return { ...before, ...values };
}

/**
 * Removes the links of a component attribute, because the attribute is replaced as a whole. Components that remain get their links again.
 */
function removeComponentLinks({ links }: GraphContext, entry: GraphEntry, attribute: string): void {
  const removed = links
    .ownedBy(entry.id)
    .filter(({ component, relation }) => component !== 0 && relation.rowSet.path[0]?.attribute === attribute);
  removeLinks(links, removed, worldsOf(entry.view.edited));
}

function addComponentLinks(
  { links, names, schema, sequences }: GraphContext,
  entry: GraphEntry,
  { path, attribute, component, targets }: ComponentLinks,
): void {
  const relation = schema.relation({ type: entry.view.uid, path }, attribute);
  const entries = [
    ...new Set(targets.map(({ documentId, locale }) => names.entry(relation.targetType, documentId, locale))),
  ];
  for (const target of relation.toOne ? entries.slice(-1) : entries) {
    const record = newLink(relation, entry.id, component, target);
    const number = sequences.next('link');
    for (const world of worldsOf(entry.view.edited)) {
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
