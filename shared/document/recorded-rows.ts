import type { Uid } from '../schema/content-type.ts';
import type { LinkTarget } from './events.ts';

/** Identifies a document. */
export type DocumentName = { readonly type: Uid; readonly documentId: string };

/** Identity and times of a row. A different stamp means that the row has changed. */
export type RowStamp = DocumentName & {
  readonly locale: string | null;
  readonly version: 'draft' | 'published' | 'live';
  readonly id: number;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
};

/** A link in the content graph, seen from one of its ends. The far end may have no row. */
export type RecordedLink = {
  readonly world: 'draft' | 'published';
  /** Locale of the near entry. */
  readonly locale: string | null;
  /** Attribute of the near type. The near side may own the relation or only show it. */
  readonly attribute: string;
  readonly far: LinkTarget;
  /** Slot in the list of the owner. */
  readonly sourceOrder: number;
  /** Slot in the list of the target. */
  readonly targetOrder: number;
};

/** Rows and links that a follower compares with its source. All reads are synchronous. */
export type RecordedRows = {
  /** Yields the rows of a type in batches. The graph may change between two batches. */
  stamps(type: Uid): Iterable<readonly RowStamp[]>;
  /** Returns the number of rows of a version. */
  count(type: Uid, version: RowStamp['version']): number;
  /**
   * Returns the links of all relation attributes of a document, on both sides. Links that another document owns are included only if the
   * owner has a row.
   */
  links(type: Uid, documentId: string): readonly RecordedLink[];
  /** Returns the documents that own a link to this one. Links of components count, and so do relations that this document does not show. */
  owners(type: Uid, documentId: string): readonly DocumentName[];
  /** Returns whether a document has more links than `limit`, in either direction. Does not read them. */
  hasMoreLinks(type: Uid, documentId: string, limit: number): boolean;
  /** Returns the newest numeric id of a row, even if the row was removed; undefined if it never existed. */
  newestId(entry: RowName): number | undefined;
};

/** Identifies a row, whether or not it exists. */
export type RowName = DocumentName & Pick<RowStamp, 'locale' | 'version'>;
