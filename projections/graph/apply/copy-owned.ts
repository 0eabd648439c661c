import { mapComponents } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRelation } from '../store/graph-relation.ts';
import { type LinkRecord, type LinkStore, newLink } from '../store/link-store.ts';
import type { StoredComponent } from '../store/present-row.ts';
import { copyLink, type WorldCopy } from './apply-relation-operation.ts';
import type { GraphContext } from './graph-context.ts';

/** Copies a row's values and the links that it owns from one world to the other. The copied components get new ids. */
export function copyOwned(context: GraphContext, entry: GraphEntry, copy: WorldCopy): void {
  const { from, to, only } = copy;
  const source = entry.rows[from];
  const target = entry.rows[to];
  if (source === undefined || target === undefined) throw new Error('both rows must exist to copy one');
  const ids = new Map<string, number>();
  const values: Record<string, unknown> = only === undefined ? { ...source.values } : { ...target.values };
  for (const name of only ?? []) values[name] = source.values[name] ?? null;
  for (const bearer of entry.view.bearers) {
    if (only !== undefined && !only.has(bearer.name)) continue;
    values[bearer.name] = copyComponents(context, values[bearer.name], bearer, ids);
  }
  target.values = values;
  context.keptValues.copy(entry.id, { from, to, only, ids });
  if (only === undefined) context.keptLinks.copy(entry.id, from, to);
  context.session.touch(entry, to);
  for (const record of context.links.ownedBy(entry.id)) {
    if (only !== undefined && !only.has(attributeOf(record))) continue;
    if (record.component === 0) copyLink(context.links, record, copy);
    else copyComponentLink(context.links, record, ids, copy);
  }
}

/** Copies the link of a component to the copied component: each world has its own components, and so its own links. */
function copyComponentLink(
  links: LinkStore,
  record: LinkRecord,
  ids: ReadonlyMap<string, number>,
  { from, to }: WorldCopy,
): void {
  const order = record.orders[from];
  record.orders[to] = null;
  links.save(record);
  const component = ids.get(`${record.relation.component} ${record.component}`);
  if (order === null || component === undefined) return;
  const copied = newLink(record.relation, record.source, component, record.target);
  copied.orders[to] = order;
  links.save(copied);
}

/** The content type's attribute that a link belongs to, directly or through a component. */
function attributeOf({ relation }: LinkRecord): string {
  return relation.rowSet.path[0]?.attribute ?? relation.attribute;
}

function copyComponents(
  { schema, sequences }: GraphContext,
  value: unknown,
  bearer: GraphEntry['view']['bearers'][number],
  ids: Map<string, number>,
): unknown {
  return mapComponents(schema.registry, bearer, value, (component, uid): StoredComponent => {
    const id = sequences.next(`component ${uid}`);
    ids.set(`${uid} ${component.id}`, id);
    return { ...component, id };
  });
}

/** Copies the links that were edited from this entry's inverse sides from one world into the other. */
export function copyPendingEdits(
  { pending, links, keptLinks, schema }: GraphContext,
  entry: GraphEntry,
  copy: WorldCopy,
): void {
  const { only } = copy;
  for (const { relation, source, target } of pending.by(entry.id)) {
    const known = schema.relationOfNumber(relation);
    keptLinks.copyOne({ source, relation, target }, copy.from, copy.to);
    if (known === undefined || (only !== undefined && !only.has(inverseAttribute(entry, known)))) continue;
    const record = links.find(known, source, target);
    // The other world may gain or lose further links, since an end is single. They belong to the same edit.
    copyLink(links, record, copy);
  }
}

/** The entry's attribute that shows a relation from its inverse side. */
function inverseAttribute(entry: GraphEntry, relation: GraphRelation): string {
  for (const attribute of entry.view.type.attributes.values()) {
    if (attribute.kind !== 'relation' || attribute.mappedBy !== relation.attribute) continue;
    if (attribute.target === relation.rowSet.type) return attribute.name;
  }
  return '';
}
