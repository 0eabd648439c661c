import type { LinkTarget } from '../../shared/document/events.ts';
import type { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Lookups of other documents for resolving a reference. */
export type LinkFinder = {
  /** Returns whether the document has a row, in `locale` unless that is null. */
  readonly exists: (type: Uid, documentId: string, locale: string | null) => boolean;
  /** Returns the document of the row with this numeric id. */
  readonly byId: (type: Uid, id: number) => LinkTarget | undefined;
  /** Returns the numeric id of a document's draft or only row, for messages. */
  readonly rowId: (type: Uid, target: LinkTarget) => number | undefined;
  /** Returns whether the document has a published row in the target's locale, or any row if its type has no drafts. */
  readonly isPublished: (type: Uid, target: LinkTarget) => boolean;
  /** Returns the MIME type of a file. Absent: the kinds of files are not validated (in an import). */
  readonly mimeOf?: (documentId: string) => string | undefined;
};

/** References to rows of one type. */
export type ReferencesToType = {
  /** Reader that fails on some references: Strapi, because they have no id, or its database. null: all can be read. */
  unreadable: 'by-strapi' | 'by-database' | null;
  /** Numeric ids that no row has. */
  readonly missing: Set<number | null>;
};

/** State that all relations of one entry share. Strapi looks at documents first, then validates, then links. */
export type RelationScope = {
  readonly registry: SchemaRegistry;
  readonly finder: LinkFinder;
  readonly defaultLocale: string;
  /** Locale of the entry that is written: null if its type has no i18n. */
  readonly locale: string | null;
  /** True for a new entry, in which the option `strict` of a relation has no effect, as in Strapi. */
  readonly isNewEntry: boolean;
  /** True: required relations and files must be present, as in Strapi with `strictRelations`. */
  readonly strict: boolean;
  /** Output: documents that do not exist. */
  readonly unknown: { readonly type: Uid; readonly documentId: string; readonly locale: string | null }[];
  /** Output: the first problem because of which the relations cannot be parsed, in Strapi's words. */
  readonly faults: string[];
  /** Output: references by the type of their target, in Strapi's order. */
  readonly references: Map<Uid, ReferencesToType>;
  /** Output: errors that are answered if nothing else is wrong. */
  readonly late: RequestError[];
};
