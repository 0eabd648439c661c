import type { Uid } from '../schema/content-type.ts';
import type { EntryValues, LinkTarget, RelationOperation } from './events.ts';

/**
 * What the write side reads of the content graph (implemented in projections/, used by services/command through main.ts,
 * so neither imports the other). Level with the log when the leader decides. All reads are synchronous and of O(result).
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

/** A command whose events count. */
export type AppliedCommand = {
  /** Digest of all that was asked for; undefined where its sender gave none. */
  readonly request: string | undefined;
  readonly documentId: string;
  /** Of its last event. */
  readonly position: bigint;
};

export type ContentGraphReader = {
  /** Position of the last event applied. */
  position(): bigint;
  /** The command of this id, if it was applied: known for a day where clients may repeat it, else for ten minutes. */
  command(id: string): AppliedCommand | undefined;
  /** Revision of a document's stream as far as applied; undefined when there is none. */
  streamRevision(type: Uid, documentId: string): bigint | undefined;
  /** All rows of a document: every locale and version. */
  entries(type: Uid, documentId: string): readonly Entry[];
  /** The document that has (or had, in an older publication of a row that still exists) this numeric id, and the row's locale. */
  documentOfId(type: Uid, id: number): LinkTarget | undefined;
  /** True when some row of the document exists (in that locale when given). */
  exists(type: Uid, documentId: string, locale?: string | null): boolean;
  /**
   * Another document than `except` whose published or live row in `locale` has this value (its text) at a place where values are
   * unique: an attribute by its name, one of a component as `UniquePlace` names it. Of files also by their `hash`.
   */
  documentWithUnique(
    type: Uid,
    place: string,
    locale: string | null,
    value: string,
    except: string | undefined,
  ): string | undefined;
  /** Draft or live links of an entry's relation attribute (either side), in order: what connect/disconnect and validation see. */
  linkedTargets(
    type: Uid,
    documentId: string,
    locale: string | null,
    attribute: string,
  ): readonly LinkTarget[];
  /**
   * Those of a write's relation operations that change something: links, in any world that the write reaches, or what the next
   * publication shows. All of them for an entry that has no row to be edited.
   */
  changingOperations(
    type: Uid,
    documentId: string,
    locale: string | null,
    operations: readonly RelationOperation[],
  ): readonly RelationOperation[];
};
