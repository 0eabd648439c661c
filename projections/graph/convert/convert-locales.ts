import type { GraphContext } from '../apply/graph-context.ts';
import { deleteEntry } from '../apply/publish-entry.ts';
import type { TypeView } from '../store/type-view.ts';

/**
 * Converts a type whose locales were switched on or off. If they were switched on, existing entries get the default locale, as in Strapi.
 * If they were switched off, the entries of the default locale remain, without a locale. The others are removed; the log still has them.
 * Entries keep their numbers, so links to and from them remain.
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

/** Removes entries with a locale from a type without locales. */
export function removeLocales(context: GraphContext, view: TypeView): void {
  if (view.localized) return;
  for (const entry of context.session.entriesOfType(view))
    if (entry.locale !== null) deleteEntry(context, entry);
}
