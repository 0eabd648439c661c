import { forgetUnpublished, recordCopy, recordRemoval } from '../../journal/record-changes.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { removeLinks } from '../store/link-store.ts';
import { BOTH_WORLDS, DRAFT, PUBLISHED, versionOfKey } from '../store/row-keys.ts';
import { copyOwned, copyPendingEdits } from './copy-owned.ts';
import type { GraphContext, Moment } from './graph-context.ts';
import { discardShared, publishShared } from './publish-shared.ts';
import { addRow, assignId, dropRow, showLinks } from './row-lifecycle.ts';

/** Copies the draft and the links that it owns to the published row. Also publishes the links that were edited from this side. */
export function publishEntry(context: GraphContext, entry: GraphEntry, moment: Moment): void {
  const draft = entry.rows[DRAFT];
  if (draft === undefined) throw new Error('there is no draft to publish');
  const before = entry.rows[PUBLISHED];
  recordCopy(context, moment, entry, PUBLISHED);
  addRow(context, entry, PUBLISHED, {
    id: assignId(context, entry, PUBLISHED),
    createdAt: draft.createdAt,
    updatedAt: moment.at,
    publishedAt: moment.at,
    position: moment.position,
    values: {},
  });
  copyOwned(context, entry, { from: DRAFT, to: PUBLISHED });
  copyPendingEdits(context, entry, { from: DRAFT, to: PUBLISHED });
  context.pending.forgetSource(entry.id);
  context.pending.forgetEditor(entry.id);
  if (before === undefined) showLinks(context, entry, PUBLISHED);
  publishShared(context, entry, moment);
}

/** Removes the published row with the links it owns; links of other rows to it wait for the next publication. */
export function unpublishEntry(context: GraphContext, entry: GraphEntry, moment: Moment): void {
  recordRemoval(context, moment, entry, [PUBLISHED]);
  dropRow(context, entry, PUBLISHED);
  context.keptValues.clear(entry.id, PUBLISHED);
  context.keptLinks.clear(entry.id, PUBLISHED);
  removeLinks(context.links, context.links.ownedBy(entry.id), [PUBLISHED]);
}

/** Replaces the draft row and its owned links with those of the published row; undoes edits made from this side. */
export function discardDraft(context: GraphContext, entry: GraphEntry, moment: Moment): void {
  const [draft, published] = entry.rows;
  if (draft === undefined || published === undefined) throw new Error('there is nothing to restore');
  const names = recordCopy(context, moment, entry, DRAFT);
  draft.updatedAt = moment.at;
  draft.position = published.position;
  entry.sharedEdited = 0;
  copyOwned(context, entry, { from: PUBLISHED, to: DRAFT });
  copyPendingEdits(context, entry, { from: PUBLISHED, to: DRAFT });
  context.pending.forgetEditor(entry.id);
  discardShared(context, entry, moment, names);
}

/** Removes both versions of the locale, with all links from and to it. */
export function deleteEntry(context: GraphContext, entry: GraphEntry, moment: Moment): void {
  recordRemoval(context, moment, entry);
  for (const row of [...entry.rows]) if (row !== undefined) dropRow(context, entry, versionOfKey(row.key));
  const { links, pending, keptValues, keptLinks } = context;
  removeLinks(links, links.around(entry.id), BOTH_WORLDS);
  keptValues.deleted(entry.id);
  keptLinks.forgetEntry(entry.id);
  if (!entry.view.localized) keptValues.forgetLocales(entry.view.number, entry.documentId);
  pending.forgetSource(entry.id);
  pending.forgetEditor(entry.id);
  pending.forgetTarget(entry.id);
  entry.sharedEdited = 0;
  entry.sharedPublished = 0;
  forgetUnpublished(entry);
}
