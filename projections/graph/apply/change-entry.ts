import type { EntryChanged, EntryCreated } from '../../../shared/document/events.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { UNVERSIONED } from '../store/row-keys.ts';
import { beginEdit, namesOfEdit } from './begin-edit.ts';
import { editEntry } from './edit-entry.ts';
import type { GraphContext, Moment } from './graph-context.ts';
import { deleteEntry } from './publish-entry.ts';
import { addRow, assignId, showLinks } from './row-lifecycle.ts';
import { copySharedEdit } from './shared-values.ts';

/** Creates a draft row, or the only row of a type without drafts, with the links that waited for it. */
export function createEntry(
  context: GraphContext,
  entry: GraphEntry,
  moment: Moment,
  data: EntryCreated['data'],
): void {
  const version = entry.view.edited;
  if (entry.rows[version] !== undefined) {
    // An earlier release, which did not bring rows back, may have created the entry again.
    if (!context.keptValues.hasRestored(entry.id)) throw new Error('the entry exists already');
    deleteEntry(context, entry, moment);
  }
  const recordEdit = beginEdit(context, entry, moment, namesOfEdit(data));
  const row = addRow(context, entry, version, {
    id: assignId(context, entry, version, data.id),
    createdAt: moment.at,
    updatedAt: moment.at,
    publishedAt: version === UNVERSIONED ? moment.at : null,
    position: moment.position,
    values: {},
  });
  editEntry(context, entry, row, data);
  recordEdit();
  if (!entry.isNew) {
    // A kept row of an earlier time does not come back.
    context.keptValues.forgetEntry(entry.id);
    showLinks(context, entry, version);
  }
  copySharedEdit(context, entry, data, moment);
}

/** Changes the row that is edited. Throws if the entry has none. */
export function changeEntry(
  context: GraphContext,
  entry: GraphEntry,
  moment: Moment,
  data: EntryChanged['data'],
): void {
  const version = entry.view.edited;
  const row = entry.rows[version];
  if (row === undefined) throw new Error('the entry to change does not exist');
  row.updatedAt = moment.at;
  if (isSharedOnly(entry, data)) entry.sharedEdited = moment.position;
  else row.position = moment.position;
  const recordEdit = beginEdit(context, entry, moment, namesOfEdit(data));
  editEntry(context, entry, row, data);
  recordEdit();
  copySharedEdit(context, entry, data, moment);
}

/** Returns whether a change concerns only shared values. Such a change is published with the next publication of any locale. */
function isSharedOnly(entry: GraphEntry, data: EntryChanged['data']): boolean {
  const { shared } = data;
  if (!entry.view.localized || shared.length === 0) return false;
  return namesOfEdit(data).every((name) => shared.includes(name));
}
