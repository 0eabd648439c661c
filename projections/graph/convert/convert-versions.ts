import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { forgetUnpublished } from '../../journal/record-changes.ts';
import { copyOwned } from '../apply/copy-owned.ts';
import type { GraphContext, Moment } from '../apply/graph-context.ts';
import { addRow, assignId, showLinks } from '../apply/row-lifecycle.ts';
import { type GraphEntry, publicationState } from '../store/graph-entry.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { type KeptValue, ROW_WITHOUT_DRAFTS, type StoredKeptValue } from '../store/kept-values.ts';
import type { LinkOrder } from '../store/link.ts';
import { newLink } from '../store/link-store.ts';
import { DRAFT, PUBLISHED, rowKey, UNVERSIONED } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import { hasForeignLocale } from './convert-locales.ts';
import { type KeptRow, keepRow, restoreRow } from './keep-rows.ts';

/** A draft that its type does not show, as the graph keeps it. */
type KeptDraft = KeptRow & {
  /** Position and time of the published row that became the only row. */
  readonly only: readonly [position: number, updatedAt: string] | null;
  /** True if the draft differed from the published row. */
  readonly isChanged: boolean;
  /** Links of the draft world that the entry itself owns. */
  readonly links: readonly (readonly [attribute: string, target: number, order: LinkOrder])[];
};

/**
 * Converts an entry after draft & publish was switched on. Its row becomes the draft and the published row. The published row gets a new
 * id, as if the entry was published now. If the graph has kept a draft, and the entry was not edited since, the row becomes the published
 * row, and the draft comes back.
 */
export function splitVersions(
  context: GraphContext,
  entry: GraphEntry,
  now: TypeDefinition,
  moment: Moment,
): void {
  const only = entry.rows[UNVERSIONED];
  if (only === undefined) return;
  const kept = context.keptValues.of(entry.id).find(({ attribute }) => attribute === ROW_WITHOUT_DRAFTS);
  context.session.removeRow(entry, UNVERSIONED);
  if (kept !== undefined && isUnchanged(only, kept)) {
    restoreDraft(context, entry, { only, kept, now });
    return;
  }
  if (kept !== undefined) {
    context.keptValues.forget(kept);
    context.keptValues.clear(entry.id, DRAFT);
  }
  context.keptValues.move(entry.id, UNVERSIONED, DRAFT);
  const draft = addRow(context, entry, DRAFT, { ...only, publishedAt: null });
  context.ids.give(entry.view.number, draft.id, draft.key);
  const id = assignId(context, entry, PUBLISHED);
  addRow(context, entry, PUBLISHED, { ...only, id, position: moment.position });
  copyOwned(context, entry, { from: DRAFT, to: PUBLISHED });
  showLinks(context, entry, DRAFT);
  showLinks(context, entry, PUBLISHED);
}

function isUnchanged({ position, updatedAt }: GraphRow, { data }: KeptValue): boolean {
  const { only } = data as KeptDraft;
  return only !== null && only[0] === position && only[1] === updatedAt;
}

type Split = { readonly only: GraphRow; readonly kept: StoredKeptValue; readonly now: TypeDefinition };

function restoreDraft(context: GraphContext, entry: GraphEntry, { only, kept, now }: Split): void {
  const { links, keptValues, ids } = context;
  keptValues.move(entry.id, UNVERSIONED, PUBLISHED);
  const published = addRow(context, entry, PUBLISHED, only);
  ids.give(entry.view.number, published.id, published.key);
  for (const record of links.ownedBy(entry.id)) {
    record.orders[DRAFT] = null;
    links.save(record);
  }
  for (const [attribute, target, order] of (kept.data as KeptDraft).links) {
    const definition = entry.view.type.attributes.get(attribute);
    if (definition?.kind !== 'relation' || definition.mappedBy !== undefined) continue;
    const { relation } = entry.view.relation(attribute);
    const known = links.ofSource(relation, entry.id, 0).find((each) => each.target === target);
    const record = known ?? newLink(relation, entry.id, 0, target);
    record.orders[DRAFT] = order;
    links.save(record);
  }
  restoreRow(context, entry, kept, now);
  showLinks(context, entry, PUBLISHED);
}

/**
 * Converts an entry after draft & publish was switched off. Its published row becomes its only row. An entry without a published row is
 * removed, as in Strapi, because a change of a schema must not publish a row. The graph keeps the drafts until draft & publish is switched on
 * again.
 */
export function joinVersions(context: GraphContext, entry: GraphEntry, definition: TypeDefinition): void {
  const published = entry.rows[PUBLISHED];
  const { session, links, pending, keptValues, keptLinks } = context;
  const at = published === undefined ? null : [published.position, published.updatedAt];
  const more = {
    only: at,
    links: draftLinks(context, entry),
    isChanged: publicationState(entry) !== 'published',
  };
  keepRow(context, entry, { version: DRAFT, attribute: ROW_WITHOUT_DRAFTS, definition, more });
  pending.forgetSource(entry.id);
  pending.forgetEditor(entry.id);
  forgetUnpublished(entry);
  if (published === undefined) return;
  session.removeRow(entry, PUBLISHED);
  keptValues.move(entry.id, PUBLISHED, UNVERSIONED);
  keptLinks.copy(entry.id, PUBLISHED, DRAFT);
  const only = addRow(context, entry, UNVERSIONED, published);
  context.ids.give(entry.view.number, only.id, only.key);
  for (const record of links.ownedBy(entry.id)) {
    record.orders[DRAFT] = record.orders[PUBLISHED];
    links.save(record);
  }
  showLinks(context, entry, UNVERSIONED);
}

function draftLinks({ links }: GraphContext, entry: GraphEntry): KeptDraft['links'] {
  return links.ownedBy(entry.id).flatMap(({ component, relation, target, orders }) => {
    const order = orders[DRAFT];
    return component !== 0 || order === null ? [] : [[relation.attribute, target, order] as const];
  });
}

/** Brings back drafts that were never published. Their type has draft & publish again. */
export function restoreDrafts(context: GraphContext, view: TypeView, now: TypeDefinition): void {
  if (!view.draftAndPublish) return;
  for (const kept of context.keptValues.rows(view.number, ROW_WITHOUT_DRAFTS)) {
    const entry = context.session.entryOfNumber(view, kept.entry);
    if (entry.rows.some((row) => row !== undefined) || hasForeignLocale(entry)) continue;
    restoreRow(context, entry, kept, now);
  }
}

/** Returns whether the entry's rows have other versions than its type. */
export function hasOtherVersions({ view, rows, id }: GraphEntry): boolean {
  return rows.some(
    (row) => row !== undefined && (row.key === rowKey(id, UNVERSIONED)) === view.draftAndPublish,
  );
}
