import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { GraphContext, Moment } from '../apply/graph-context.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { SchemaView } from '../store/type-view.ts';
import { convertEntry, type EntryConversion, prepareConversion, type Redefinition } from './convert-entry.ts';
import { convertLocales, hasForeignLocale, keepLocale, restoreLocales } from './convert-locales.ts';
import { hasOtherVersions, joinVersions, restoreDrafts, splitVersions } from './convert-versions.ts';
import { keepUndefinedLinks, restoreLinks } from './keep-links.ts';
import { renameRelations } from './rename-relations.ts';
import { restoreValues } from './restore-values.ts';

/** A change of a content type: its definitions, and the view of all content types before it. */
export type TypeChange = Redefinition & { readonly view: SchemaView; readonly moment: Moment };

/**
 * Converts the rows of a changed content type to its new definition. Renamed attributes keep their values and links. Values of another
 * type are converted. Private and unique values are stored as the new definition says. Versions are split or joined if draft & publish was
 * switched. Locales are added or removed if they were switched. The graph keeps all values, links and rows that the new definition does not
 * show, and brings back those that it shows again.
 */
export function convertType(context: GraphContext, { view, moment, ...redefinition }: TypeChange): void {
  const conversion = prepareConversion(context, redefinition);
  convertRows(context, conversion, view, moment);
  // The following steps read whole tables.
  context.flush();
  const { now, change } = conversion;
  keepUndefinedLinks(context, view, now.uid);
  restoreLinks(context, now.uid, change);
  context.pending.reload();
}

function convertRows(
  context: GraphContext,
  conversion: EntryConversion,
  view: SchemaView,
  moment: Moment,
): void {
  const { change, now } = conversion;
  const { db, schema, session } = context;
  const type = schema.type(now.uid);
  const wasLocalized = contentTypeOf(change.before.registry, now.uid).localized;
  for (const { number } of type.unique) db.run('DELETE FROM unique_values WHERE attribute = ?', number);
  renameRelations(context, now.uid, change, view);
  convertLocales(context, type, wasLocalized, now.defaultLocale);
  const convertVersions = (entry: GraphEntry) => {
    if (!hasOtherVersions(entry)) return;
    if (type.draftAndPublish) splitVersions(context, entry, now, moment);
    else joinVersions(context, entry, now);
  };
  for (const entry of session.entriesOfType(type)) {
    convertEntry(context, entry, conversion);
    if (hasForeignLocale(entry)) {
      keepLocale(context, entry, now);
      continue;
    }
    restoreValues(context, entry, conversion);
    convertVersions(entry);
  }
  for (const entry of restoreLocales(context, type, now)) convertVersions(entry);
  restoreDrafts(context, type, now);
}
