import type { Uid } from '../schema/content-type.ts';
import type { LinkTarget } from './events.ts';

/** A document by its name. */
export type DocumentName = { readonly type: Uid; readonly documentId: string };

/** Identity and times of a row: another stamp means that the row changed. */
export type RowStamp = DocumentName & {
  readonly locale: string | null;
  readonly version: 'draft' | 'published' | 'live';
  readonly id: number;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
};

/** A link that the content graph has, seen from one of its ends, whether or not the far end has a row. */
export type RecordedLink = {
  readonly world: 'draft' | 'published';
  /** Locale of the near entry. */
  readonly locale: string | null;
  /** Attribute of the near type: of the side that owns the relation, or of the one that shows it. */
  readonly attribute: string;
  readonly far: LinkTarget;
  /** Slot in the list of the owner. */
  readonly sourceOrder: number;
  /** Slot in the list of the target. */
  readonly targetOrder: number;
};

/** Rows and links that a follower compares with its source. All reads are synchronous. */
export type RecordedRows = {
  /** The rows of a type in batches; the graph may change between two of them. */
  stamps(type: Uid): Iterable<readonly RowStamp[]>;
  /** How many rows of a version there are. */
  count(type: Uid, version: RowStamp['version']): number;
  /** Links of the relation attributes of a document, both sides'. Of a side that shows them only those whose owner has a row. */
  links(type: Uid, documentId: string): readonly RecordedLink[];
  /** The documents that own a link to this one, components' links included, and relations that it does not show. */
  owners(type: Uid, documentId: string): readonly DocumentName[];
  /** Returns whether a document has more links than `limit`, in either direction. Does not read them. */
  hasMoreLinks(type: Uid, documentId: string, limit: number): boolean;
  /** The newest numeric id of a row, also of one that was removed; undefined if there never was one. */
  newestId(entry: RowName): number | undefined;
};

/** A row, whether or not it exists. */
export type RowName = DocumentName & Pick<RowStamp, 'locale' | 'version'>;
