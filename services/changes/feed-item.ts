import type { JournalRow } from '../../projections/journal/journal.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { LogChange } from './read-changes.ts';
import type { FeedSelection } from './selection.ts';

/** Member of `data`: a change of rows of one document in one version. */
export type FeedItem = {
  readonly type: string;
  /** Absent from a `related` item about any document of the type. */
  readonly documentId?: string;
  readonly status: World;
  readonly event: JournalRow['event'] | 'related';
  /** Locales of the rows; empty for a type without locales. */
  readonly locales: readonly string[];
  /** Attributes that an update may have changed; null if they are not known. */
  readonly changed?: readonly string[] | null;
  /** Position in the log. */
  readonly position: string;
  /** Time of the change; absent in a first sync. */
  readonly at?: string;
  /** The changed document that `related` is about. */
  readonly cause?: { readonly type: string; readonly documentId: string };
};

/** Returns whether a selection has rows of this type, version and locale. */
export function isSelected(
  { types, statuses, locales }: FeedSelection,
  uid: string,
  { status, locale }: Pick<JournalRow, 'status' | 'locale'>,
): boolean {
  const type = types.get(uid);
  if (type === undefined) return false;
  // A type without draft & publish has one version, which belongs to every status.
  if (type.draftAndPublish && !statuses.has(status)) return false;
  return locale === null || locales === undefined || locales.has(locale);
}

/** Returns the item of a changed row. `changed` has the attributes of an update that the caller may see. */
export function itemOf(
  { type, documentId, position, at }: Omit<LogChange, 'rows'>,
  { status, event, locale }: JournalRow,
  changed: readonly string[] | null,
): FeedItem {
  const locales = locale === null ? [] : [locale];
  const item = { type, documentId, status, event, locales, position: String(position), at };
  return event === 'update' ? { ...item, changed } : item;
}

/** Joins consecutive items of one change to one document and version. */
export function joinItems(items: readonly FeedItem[]): readonly FeedItem[] {
  const joined: FeedItem[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (last !== undefined && isSameChange(last, item)) joined[joined.length - 1] = join(last, item);
    else joined.push(item);
  }
  return joined;
}

function isSameChange(one: FeedItem, other: FeedItem): boolean {
  return (
    one.documentId === other.documentId &&
    one.type === other.type &&
    one.status === other.status &&
    one.event === other.event &&
    one.at === other.at
  );
}

function join(first: FeedItem, second: FeedItem): FeedItem {
  const locales = [...new Set([...first.locales, ...second.locales])].sort();
  const { changed } = second;
  if (first.changed === undefined) return { ...second, locales };
  const both =
    first.changed === null || changed === null || changed === undefined
      ? null
      : [...new Set([...first.changed, ...changed])].sort();
  return { ...second, locales, changed: both };
}
