import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { GraphContext, Moment } from '../apply/graph-context.ts';
import { componentKeys } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRelation } from '../store/graph-relation.ts';
import { linksOfRelation, removeLinks, reportLinks } from '../store/link-store.ts';
import { BOTH_WORLDS, versionOfKey } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import { changeOf } from './change-of.ts';
import { convertLocales, removeLocales } from './convert-locales.ts';
import { convertValues, type ModelChange } from './convert-values.ts';
import { hasOtherVersions, joinVersions, splitVersions } from './convert-versions.ts';
import { renameRelations } from './rename-relations.ts';

/** A definition, and the one that it replaces. */
export type Redefinition = { readonly before: TypeDefinition; readonly now: TypeDefinition };

/**
 * Converts the rows of changed content types to their new definitions. Renamed attributes keep their values and links. Values of removed
 * attributes are dropped. Values of another type are converted or dropped. Private and unique values are stored as the new definition says.
 * Links of removed relations are dropped. Versions are split or joined if draft & publish was switched. Locales are added or removed if
 * they were switched. Each type is compared with its own previous definition, even if other definitions of the same run are already
 * applied.
 */
export function convertTypes(
  context: GraphContext,
  redefined: Iterable<Redefinition>,
  before: SchemaView,
  moment: Moment,
): void {
  for (const each of redefined) {
    convertType(context, each, before, moment);
    // The following steps read whole tables.
    context.flush();
  }
  removeUndefinedLinks(context, before, 'true', (relation) =>
    reportLinks(context.changes, linksOfRelation(context.db, relation), BOTH_WORLDS, 'removed'),
  );
  context.pending.reload();
}

function convertType(
  context: GraphContext,
  { before, now }: Redefinition,
  view: SchemaView,
  moment: Moment,
): void {
  const { db, schema, session } = context;
  const type = schema.type(now.uid);
  const change = changeOf(before, now);
  for (const { number } of type.unique) db.run('DELETE FROM unique_values WHERE attribute = ?', number);
  renameRelations(context, now.uid, change, view);
  convertLocales(context, type, contentTypeOf(change.before.registry, now.uid).localized, now.defaultLocale);
  removeLocales(context, type);
  for (const entry of session.entriesOfType(type)) {
    convertEntry(context, entry, change);
    if (!hasOtherVersions(entry)) continue;
    if (type.draftAndPublish) splitVersions(context, entry, moment);
    else joinVersions(context, entry);
  }
}

/** Converts the values of an entry's rows. */
export function convertEntry({ session, links }: GraphContext, entry: GraphEntry, change: ModelChange): void {
  const ids = [new Set<string>(), new Set<string>()] as const;
  for (const row of entry.rows) {
    if (row === undefined) continue;
    for (const id of componentKeys(change.before.registry, change.before.model, row.values)) ids[0].add(id);
    row.uniqueValues = new Map();
    row.values = convertValues(change, row.values);
    for (const id of componentKeys(change.now.registry, change.now.model, row.values)) ids[1].add(id);
    session.touch(entry, versionOfKey(row.key));
  }
  if (ids[0].size === ids[1].size) return;
  const removed = links
    .ownedBy(entry.id)
    .filter(
      ({ component, relation }) => component !== 0 && !ids[1].has(`${relation.component} ${component}`),
    );
  removeLinks(links, removed, BOTH_WORLDS);
}

/**
 * Removes links and pending edits of relations that are no longer defined, or lead to another content type. `where`: SQL for the links
 * concerned. `removing` gets each relation that had links before. A change of content types is rare enough to look at all links.
 */
export function removeUndefinedLinks(
  { db, schema }: GraphContext,
  before: SchemaView,
  where: string,
  removing?: (relation: GraphRelation) => void,
): void {
  // An edit that is not published yet may have removed the last link of its relation.
  const used = `SELECT relation FROM links WHERE ${where} UNION SELECT relation FROM pending_edits WHERE ${where}`;
  for (const [number] of db.all(used)) {
    const relation = number as number;
    const known = before.relationOfNumber(relation);
    const now = schema.relationOfNumber(relation);
    if (now !== undefined && (known === undefined || known.target === now.target)) continue;
    if (known !== undefined) removing?.(known);
    for (const table of ['links', 'pending_edits'])
      db.run(`DELETE FROM ${table} WHERE relation = ? AND ${where}`, relation);
  }
}
