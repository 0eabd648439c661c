import type { Uid } from '../schema/content-type.ts';
import type { EntryValues, LinkTarget, RelationOperation } from './events.ts';

/**
 * Reads of the content graph by the write side. projections/ implements them and services/command uses them. services/process joins the
 * two, so neither imports the other. The leader decides only when the graph is caught up. All reads are synchronous and take O(result).
 */

/** An entry is one row: a document in one locale and version. */
export type Entry = {
  /** Row key: stable while the row exists. */
  readonly key: number;
  /** Numeric id that answers show. Each publication gets a new one. */
  readonly id: number;
  readonly type: Uid;
  readonly documentId: string;
  readonly locale: string | null;
  readonly version: 'draft' | 'published' | 'live';
  /**
   * All attributes except relations: scalars including private ones, and components with their ids. Relations inside components are
   * LinkTarget[].
   */
  readonly values: EntryValues;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Time of the publication; null on drafts. */
  readonly publishedAt: string | null;
};

/** Returns the locales of entries, each once. */
export function localesOfEntries(entries: readonly Pick<Entry, 'locale'>[]): readonly (string | null)[] {
  return [...new Set(entries.map(({ locale }) => locale))];
}

/** A command whose events took effect. */
export type AppliedCommand = {
  /** Digest of the whole request; undefined if the sender gave none. */
  readonly request: string | undefined;
  readonly documentId: string;
  /** Position of the command's last event. */
  readonly position: bigint;
};

/** A text at a unique path of a content type. */
export type UniqueText = {
  readonly type: Uid;
  /** An attribute, or a path in a component as `UniquePath` names it. Files are also found by their `hash`. */
  readonly place: string;
  readonly locale: string | null;
  readonly text: string;
};

export type ContentGraphReader = {
  /** Returns the position of the last applied event. */
  position(): bigint;
  /**
   * Returns the command with this id, if it was applied. It is remembered for a day if clients may repeat it, and otherwise for ten
   * minutes.
   */
  command(id: string): AppliedCommand | undefined;
  /** Returns the last applied revision of a document's stream; undefined if there is none. */
  streamRevision(type: Uid, documentId: string): bigint | undefined;
  /** Returns all rows of a document, in every locale and version. */
  entries(type: Uid, documentId: string): readonly Entry[];
  /** Returns the document with this numeric id, and the locale of the row. It also finds ids of older publications while the row exists. */
  documentOfId(type: Uid, id: number): LinkTarget | undefined;
  /** Returns whether some row of the document exists (in that locale, if given). */
  exists(type: Uid, documentId: string, locale?: string | null): boolean;
  /** Returns another document than `except` that has this unique value, as text, in a published or current row of `locale`. */
  documentWithUnique(unique: UniqueText, except?: string): string | undefined;
  /**
   * Returns the draft or current links of an entry's relation attribute (on either side), in order. Connect, disconnect and validation use
   * them.
   */
  linkedTargets(
    type: Uid,
    documentId: string,
    locale: string | null,
    attribute: string,
  ): readonly LinkTarget[];
  /**
   * Returns the relation operations of a write that change links in any world that the write reaches, or change the next publication.
   * Returns all of them for an entry without a row to edit.
   */
  changingOperations(
    type: Uid,
    documentId: string,
    locale: string | null,
    operations: readonly RelationOperation[],
  ): readonly RelationOperation[];
};
