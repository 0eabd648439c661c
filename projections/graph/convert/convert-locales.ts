import type { GraphContext } from '../apply/graph-context.ts';
import { deleteEntry } from '../apply/publish-entry.ts';
import type { TypeView } from '../store/type-view.ts';

/**
 * Locales were switched on: what there is becomes the default locale's, as in Strapi. Off: the default locale's entries stay,
 * under no locale; the others go (the log still has them). Entries keep their numbers, so links to and from them stay.
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
  // Of an earlier time when it was the other way round: nothing shows them, and their names are needed.
  db.run(
    `UPDATE entries SET locale = locale || '#' || id WHERE type = ?1 AND locale = ?2 AND EXISTS (
      SELECT 1 FROM entries AS other WHERE other.type = ?1 AND other.locale = ?3 AND other.document_id = entries.document_id)`,
    ...[view.number, to, from],
  );
  db.run('UPDATE entries SET locale = ? WHERE type = ? AND locale = ?', to, view.number, from);
  names.forget();
}

/** On a type without locales: what is of one goes. */
export function removeLocales(context: GraphContext, view: TypeView): void {
  if (view.localized) return;
  for (const entry of context.session.entriesOfType(view))
    if (entry.locale !== null) deleteEntry(context, entry);
}
