import type { Uid } from '../schema/content-type.ts';
import type { EntryValues, LinkTarget, RelationOperation } from './events.ts';

/**
 * Reads that the write side makes of the content graph. projections/ implements them and services/command uses them
 * through main.ts, so neither imports the other. The leader decides only when the graph is caught up. All reads are
 * synchronous and take O(result).
 */

/** An entry = one row: a document in one locale and version. */
export type Entry = {
  /** Row key: stable while the row exists. */
  readonly key: number;
  /** Numeric id as answered; a new one with each publication. */
  readonly id: number;
  readonly type: Uid;
  readonly documentId: string;
  readonly locale: string | null;
  readonly version: 'draft' | 'published' | 'live';
  /** Everything but relations: scalars incl. private ones, components with their ids (relations inside as LinkTarget[]). */
  readonly values: EntryValues;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** null on drafts. */
  readonly publishedAt: string | null;
};

/** A command whose events took effect. */
export type AppliedCommand = {
  /** Digest of all that was asked for; undefined where its sender gave none. */
  readonly request: string | undefined;
  readonly documentId: string;
  /** Position of the command's last event. */
  readonly position: bigint;
};

/** A text at a unique path of a content type. */
export type UniqueText = {
  readonly type: Uid;
  /** An attribute, or a path in a component as `UniquePath` names it. Files also have their `hash`. */
  readonly place: string;
  readonly locale: string | null;
  readonly text: string;
};

export type ContentGraphReader = {
  /** Position of the last event applied. */
  position(): bigint;
  /** The command of this id, if it was applied: known for a day where clients may repeat it, else for ten minutes. */
  command(id: string): AppliedCommand | undefined;
  /** Last applied revision of a document's stream; undefined if there is none. */
  streamRevision(type: Uid, documentId: string): bigint | undefined;
  /** All rows of a document: every locale and version. */
  entries(type: Uid, documentId: string): readonly Entry[];
  /** The document that has (or had, in an older publication of a row that still exists) this numeric id, and the row's locale. */
  documentOfId(type: Uid, id: number): LinkTarget | undefined;
  /** Returns whether some row of the document exists (in that locale, if given). */
  exists(type: Uid, documentId: string, locale?: string | null): boolean;
  /**
   * Finds another document than `except` with this unique value (its text) in a published or current row of `locale`.
   */
  documentWithUnique(unique: UniqueText, except?: string): string | undefined;
  /**
   * Draft or current links of an entry's relation attribute (either side), in order: the input of connect, disconnect
   * and validation.
   */
  linkedTargets(
    type: Uid,
    documentId: string,
    locale: string | null,
    attribute: string,
  ): readonly LinkTarget[];
  /**
   * Returns the relation operations of a write that change links, in any world that the write reaches, or in the next
   * publication. Returns all of them for an entry without a row to edit.
   */
  changingOperations(
    type: Uid,
    documentId: string,
    locale: string | null,
    operations: readonly RelationOperation[],
  ): readonly RelationOperation[];
};
