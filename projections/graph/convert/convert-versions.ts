import { copyOwned } from '../apply/copy-owned.ts';
import type { GraphContext, Moment } from '../apply/graph-context.ts';
import { deleteEntry } from '../apply/publish-entry.ts';
import { addRow, assignId, showLinks } from '../apply/row-lifecycle.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { DRAFT, PUBLISHED, rowKey, UNVERSIONED } from '../store/row-keys.ts';

/**
 * Converts an entry after draft & publish was switched on. Its row becomes the draft and the published row. The published row gets a new
 * id, as if the entry was published now.
 */
export function splitVersions(context: GraphContext, entry: GraphEntry, moment: Moment): void {
  const only = entry.rows[UNVERSIONED];
  if (only === undefined) return;
  context.session.removeRow(entry, UNVERSIONED);
  const draft = addRow(context, entry, DRAFT, { ...only, publishedAt: null });
  context.ids.give(entry.view.number, draft.id, draft.key);
  const id = assignId(context, entry, PUBLISHED);
  addRow(context, entry, PUBLISHED, { ...only, id, position: moment.position });
  copyOwned(context, entry, { from: DRAFT, to: PUBLISHED });
  showLinks(context, entry, DRAFT);
  showLinks(context, entry, PUBLISHED);
}

/**
 * Converts an entry after draft & publish was switched off. Its published row becomes its only row. An entry without a published row is
 * removed, as in Strapi, because a change of a schema must not publish a row. The log still has it.
 */
export function joinVersions(context: GraphContext, entry: GraphEntry): void {
  const published = entry.rows[PUBLISHED];
  if (published === undefined) {
    if (entry.rows[DRAFT] !== undefined) deleteEntry(context, entry);
    return;
  }
  const { session, links, pending } = context;
  session.removeRow(entry, DRAFT);
  session.removeRow(entry, PUBLISHED);
  const only = addRow(context, entry, UNVERSIONED, published);
  context.ids.give(entry.view.number, only.id, only.key);
  for (const record of links.ownedBy(entry.id)) {
    record.orders[DRAFT] = record.orders[PUBLISHED];
    links.save(record);
  }
  pending.forgetSource(entry.id);
  pending.forgetEditor(entry.id);
  showLinks(context, entry, UNVERSIONED);
}

/** Returns whether the entry's rows have other versions than its type. */
export function hasOtherVersions({ view, rows, id }: GraphEntry): boolean {
  return rows.some(
    (row) => row !== undefined && (row.key === rowKey(id, UNVERSIONED)) === view.draftAndPublish,
  );
}
