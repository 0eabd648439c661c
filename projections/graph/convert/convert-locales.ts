import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { ROW_WITHOUT_LOCALES } from '../store/kept-values.ts';
import { versionOfKey } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import { keepRow, restoreRow } from './keep-rows.ts';

/**
 * Converts a type whose locales were switched on or off. If they were switched on, existing entries get the default locale, as in Strapi.
 * If they were switched off, the entries of the default locale remain, without a locale. The graph keeps the rows of the others until the
 * locales are switched on again. Entries keep their numbers, so links to and from them remain.
 */
export function convertLocales(
  context: GraphContext,
  view: TypeView,
  wasLocalized: boolean,
  defaultLocale: string,
): void {
  if (wasLocalized === view.localized) return;
  const [from, to] = view.localized ? ['', defaultLocale] : [defaultLocale, ''];
  const { db, names } = context;
  // Renames entries from an earlier time with the opposite setting: they have no rows, and other entries need their names.
  db.run(
    `UPDATE entries SET locale = locale || '#' || id WHERE type = ?1 AND locale = ?2 AND EXISTS (
      SELECT 1 FROM entries AS other WHERE other.type = ?1 AND other.locale = ?3 AND other.document_id = entries.document_id)`,
    ...[view.number, to, from],
  );
  db.run('UPDATE entries SET locale = ? WHERE type = ? AND locale = ?', to, view.number, from);
  names.forget();
}

/** Returns whether a type does not show an entry, because the type has no locales. */
export function hasForeignLocale({ locale, view }: GraphEntry): boolean {
  return locale !== null && !view.localized;
}

/** Keeps the rows of an entry whose type has no locales any more, and removes them. */
export function keepLocale(context: GraphContext, entry: GraphEntry, definition: TypeDefinition): void {
  for (const row of [...entry.rows]) {
    if (row === undefined) continue;
    const version = versionOfKey(row.key);
    keepRow(context, entry, { version, attribute: ROW_WITHOUT_LOCALES, definition });
  }
}

/** Brings back the kept rows of a type that has locales again. Returns their entries. */
export function restoreLocales(
  context: GraphContext,
  view: TypeView,
  now: TypeDefinition,
): ReadonlySet<GraphEntry> {
  const restored = new Set<GraphEntry>();
  if (!view.localized) return restored;
  for (const kept of context.keptValues.rows(view.number, ROW_WITHOUT_LOCALES)) {
    const entry = context.session.entryOfNumber(view, kept.entry);
    // An entry of the default locale may have this locale now.
    if (entry.locale === null || entry.locale.includes('#') || entry.rows[kept.version] !== undefined)
      continue;
    restoreRow(context, entry, kept, now);
    restored.add(entry);
  }
  return restored;
}
