import type { Uid } from '../schema/content-type.ts';
import type { TypeDefinition } from '../schema/type-definitions.ts';

/**
 * Events of a document's stream. Each is about one entry: the document in one locale (null on types without i18n). An event is complete
 * together with the rows before it. Only positions order events; `createdAt`, `updatedAt` and `publishedAt` show `at` of the metadata.
 */

/** Target of a link. `locale` null: the target's type has no i18n. */
export type LinkTarget = { readonly documentId: string; readonly locale: string | null };

/** Slot of a connected target in the list of targets. If the target of `before` or `after` no longer exists, the slot is the end. */
export type LinkPlace =
  | { readonly at: 'start' }
  | { readonly at: 'end' }
  | { readonly at: 'before' | 'after'; readonly documentId: string; readonly locale: string | null };

/** A normalised change of one relation attribute of a content type, written from this document's side. */
export type RelationOperation =
  | { readonly attribute: string; readonly kind: 'set'; readonly targets: readonly LinkTarget[] }
  | {
      readonly attribute: string;
      readonly kind: 'update';
      /** Targets that are removed first. */
      readonly disconnect: readonly LinkTarget[];
      /** Targets that are then added in order. A target that is already linked moves. */
      readonly connect: readonly { readonly target: LinkTarget; readonly place: LinkPlace }[];
    };

/**
 * Value of a component inside an entry: scalars by name, nested components as values, relations as `LinkTarget[]`. `id` is present only if
 * an existing component keeps its id; the graph assigns the others.
 */
export type ComponentValue = { readonly __component?: Uid; readonly id?: number } & {
  readonly [attribute: string]: unknown;
};

/** Scalars (also private and hashed ones) and component values, by attribute name. */
export type EntryValues = { readonly [attribute: string]: unknown };

type EntryData = { readonly type: Uid; readonly documentId: string; readonly locale: string | null };

type EditedData = EntryData & {
  readonly values: EntryValues;
  /** Names in `values` and `relations` that are not localized. They are copied to the document's other locales. */
  readonly shared: readonly string[];
  readonly relations: readonly RelationOperation[];
};

export type EntryCreated = {
  readonly type: 'entry-created';
  /**
   * A new document, or a further locale of one. `values` has every attribute that is not null. `id`: numeric id set by an import; the
   * type's sequence continues after it.
   */
  readonly data: EditedData & { readonly id?: number };
};

/** A change of an entry. `values` has changed attributes only; null clears a value. */
export type EntryChanged = { readonly type: 'entry-changed'; readonly data: EditedData };

/** Copies the draft row and its links to the published world, with a new numeric id. */
export type EntryPublished = { readonly type: 'entry-published'; readonly data: EntryData };
/** Removes the published row and leaves the draft. */
export type EntryUnpublished = { readonly type: 'entry-unpublished'; readonly data: EntryData };
/** Replaces the draft row by a copy of the published one. */
export type DraftDiscarded = { readonly type: 'draft-discarded'; readonly data: EntryData };
/** Removes both versions of the locale with their links. */
export type EntryDeleted = { readonly type: 'entry-deleted'; readonly data: EntryData };

/**
 * A link with its slots. The order of the targets is the order of the owner's list. `order` is the slot in the target's list, if it has
 * one. `world` is the only world of a link whose owner has no versions; absent: both.
 */
export type ImportedTarget = LinkTarget & {
  readonly order?: number;
  readonly world?: 'draft' | 'published';
};

/**
 * Imports one version of an entry from another system, with its ids and times. It replaces that version; nothing is copied to other
 * versions or locales. An entry is modified if its draft was imported after its published version.
 */
export type EntryImported = {
  readonly type: 'entry-imported';
  readonly data: EntryData & {
    readonly version: 'draft' | 'published' | 'live';
    /** Numeric id; absent: the next of the type's sequence. The sequence continues after it. */
    readonly id?: number;
    readonly createdAt: string;
    readonly updatedAt: string;
    /** Time of the publication; null on drafts. */
    readonly publishedAt: string | null;
    /** All attributes that are not null, also those that no schema has. Components keep their ids. */
    readonly values: EntryValues;
    /** Relations that this side owns. */
    readonly relations: readonly {
      readonly attribute: string;
      readonly targets: readonly ImportedTarget[];
    }[];
  };
};

export type DocumentEvent =
  | EntryCreated
  | EntryChanged
  | EntryPublished
  | EntryUnpublished
  | DraftDiscarded
  | EntryDeleted
  | EntryImported;

/** Returns whether a stored event belongs to a document. Other events do not concern rows. */
export function isDocumentEvent({ type }: { readonly type: string }): boolean {
  return type.startsWith('entry-') || type === 'draft-discarded';
}

/** A content type's schema from this position on, in the form of its files. Each type has its own stream. */
export type ContentTypeDefined = { readonly type: 'content-type-defined'; readonly data: TypeDefinition };

export type VarveEvent = DocumentEvent | ContentTypeDefined;
