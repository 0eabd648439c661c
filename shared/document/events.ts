import type { Uid } from '../schema/content-type.ts';
import type { TypeDefinition } from '../schema/type-definitions.ts';

/**
 * The events of a document's stream. Each is about one entry: the document in one locale (null on types without i18n),
 * and complete in itself together with the rows before it. Position is the only clock; `at` in the metadata is what
 * `createdAt`, `updatedAt` and `publishedAt` show.
 */

/** A link's target. `locale` null: the target's type has no i18n. */
export type LinkTarget = { readonly documentId: string; readonly locale: string | null };

/** Where a connected target goes among the targets there are. A `before`/`after` that is gone by then means the end. */
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
      /** Removed first. */
      readonly disconnect: readonly LinkTarget[];
      /** Then added in order; a target already linked moves. */
      readonly connect: readonly { readonly target: LinkTarget; readonly place: LinkPlace }[];
    };

/**
 * A component's value inside an entry's values: scalars by name, nested components as values, relations as `LinkTarget[]`.
 * `id` only where an existing component is kept (its id stays); the graph allots the others.
 */
export type ComponentValue = { readonly __component?: Uid; readonly id?: number } & {
  readonly [attribute: string]: unknown;
};

/** Scalars (private and hashed ones too) and component values by attribute name. */
export type EntryValues = { readonly [attribute: string]: unknown };

type EntryData = { readonly type: Uid; readonly documentId: string; readonly locale: string | null };

export type EntryCreated = {
  readonly type: 'entry-created';
  /** A new document, or a further locale of one. `values` has every attribute that is not null. */
  readonly data: EntryData & {
    readonly values: EntryValues;
    /** Names in `values` and `relations` that all locales share (not localized): copied to the document's other locales. */
    readonly shared: readonly string[];
    readonly relations: readonly RelationOperation[];
    /** Numeric id given by an import; the type's sequence goes on above it. */
    readonly id?: number;
  };
};

export type EntryChanged = {
  readonly type: 'entry-changed';
  /** Only what changed; null clears. */
  readonly data: EntryData & {
    readonly values: EntryValues;
    readonly shared: readonly string[];
    readonly relations: readonly RelationOperation[];
  };
};

/** The draft row and its links are copied to the published world; a new numeric id is allotted. */
export type EntryPublished = { readonly type: 'entry-published'; readonly data: EntryData };
/** The published row disappears, the draft stays. */
export type EntryUnpublished = { readonly type: 'entry-unpublished'; readonly data: EntryData };
/** The draft row becomes a copy of the published one. */
export type DraftDiscarded = { readonly type: 'draft-discarded'; readonly data: EntryData };
/** Both versions of the locale disappear with their links. */
export type EntryDeleted = { readonly type: 'entry-deleted'; readonly data: EntryData };

/** Where a link stands: the list of the owner has the order of the targets. `order`: in the list of the target, where it shows one. */
export type ImportedTarget = LinkTarget & { readonly order?: number };

/**
 * One version of an entry as another system has it, with its ids and times. It takes the place of that version; nothing is copied to
 * other versions or locales. An entry is modified when its draft was imported behind its published version.
 */
export type EntryImported = {
  readonly type: 'entry-imported';
  readonly data: EntryData & {
    readonly version: 'draft' | 'published' | 'live';
    /** Absent: the next of the type's sequence. The sequence goes on above it. */
    readonly id?: number;
    readonly createdAt: string;
    readonly updatedAt: string;
    /** null on drafts. */
    readonly publishedAt: string | null;
    /** Every attribute that is not null, also those that no schema has. Components keep their ids. */
    readonly values: EntryValues;
    /** Of relations that this side owns. */
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

/** A content type's schema from this position on, in the words of its files. One stream per type. */
export type ContentTypeDefined = { readonly type: 'content-type-defined'; readonly data: TypeDefinition };

export type VarveEvent = DocumentEvent | ContentTypeDefined;
