import type { PublicationState } from '../../../shared/read-index/bool-query.ts';
import type { GraphRow } from './graph-row.ts';
import type { RowFacts } from './present-row.ts';
import { DRAFT, type ExistingRows, PUBLISHED, rowKey, UNVERSIONED, versionOfKey } from './row-keys.ts';
import type { TypeView } from './type-view.ts';

/** A document in one locale, as a batch changes it. */
export type GraphEntry = {
  readonly id: number;
  readonly view: TypeView;
  readonly documentId: string;
  readonly locale: string | null;
  /** True if no event before the current one mentioned it. */
  isNew: boolean;
  /** Rows by version. */
  readonly rows: [GraphRow | undefined, GraphRow | undefined, GraphRow | undefined];
  /** States for each version whether its row is written at the end of the batch. */
  readonly changed: [boolean, boolean, boolean];
  revision: number | null;
  /** True if members of EntryNote have to be written at the end of the batch. */
  isNoted: boolean;
  /** Positions of the last edit and publication of a shared value, made in another locale. */
  sharedEdited: number;
  sharedPublished: number;
  /** See EntryNote. */
  unpublished: string | null;
  equalAt: number;
  readonly stateBefore: PublicationState;
};

/** Orders the entries of a document. */
export function byLocale(a: GraphEntry, b: GraphEntry): number {
  const [left, right] = [a.locale ?? '', b.locale ?? ''];
  return left < right ? -1 : Number(left > right);
}

/** Key of an entry's document, for maps. */
export function documentKeyOf({ view, documentId }: GraphEntry): string {
  return `${view.number}/${documentId}`;
}

/** Creates an entry of the columns ENTRY_COLUMNS, and its rows. */
export function createGraphEntry(
  view: TypeView,
  row: readonly unknown[],
  rows: readonly GraphRow[],
): GraphEntry {
  const entry: GraphEntry = {
    id: row[0] as number,
    view,
    documentId: row[1] as string,
    locale: row[2] === '' ? null : (row[2] as string),
    isNew: false,
    rows: [undefined, undefined, undefined],
    changed: [false, false, false],
    revision: row[3] as number | null,
    isNoted: false,
    sharedEdited: row[4] as number,
    sharedPublished: row[5] as number,
    unpublished: row[6] as string | null,
    equalAt: row[7] as number,
    stateBefore: 'never-published',
  };
  for (const each of rows) entry.rows[versionOfKey(each.key)] = each;
  return Object.assign(entry, { stateBefore: publicationState(entry) });
}

/** Returns whether an entry has a row of any version. */
export function hasRows(existing: ExistingRows, entry: number): boolean {
  return (
    existing.has(rowKey(entry, DRAFT)) ||
    existing.has(rowKey(entry, PUBLISHED)) ||
    existing.has(rowKey(entry, UNVERSIONED))
  );
}

/** Returns an entry's publication state: modified if its draft, or a value shared with it, was edited after the last publication. */
export function publicationState(
  entry: Pick<GraphEntry, 'rows' | 'sharedEdited' | 'sharedPublished'>,
): PublicationState {
  const [draft, published, only] = entry.rows;
  if (only !== undefined) return 'published';
  return publicationStateAt(draft?.position, published?.position, entry);
}

/** Publication state from positions alone; undefined = there is no such row. */
export function publicationStateAt(
  draft: number | undefined,
  published: number | undefined,
  shared: { readonly sharedEdited: number; readonly sharedPublished: number },
): PublicationState {
  if (published === undefined) return 'never-published';
  const isModified =
    (draft ?? 0) > published || shared.sharedEdited > Math.max(published, shared.sharedPublished);
  return isModified ? 'modified' : 'published';
}

/** Returns the members of a row's answer that are not attributes. */
export function factsOf(entry: GraphEntry, row: GraphRow): RowFacts {
  const { documentId, locale } = entry;
  const { id, createdAt, updatedAt, publishedAt } = row;
  return { id, documentId, locale, createdAt, updatedAt, publishedAt };
}
