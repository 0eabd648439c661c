import type { Uid } from '../schema/content-type.ts';
import type { IndexedRow, RowSpace, World } from './read-index.ts';

/**
 * The writing side of a read index that is made of documents: one per row and world, with copies of rows it reaches. Fed by
 * projections, which keep account of the documents that are out of date. The reading side is a `ReadIndex`.
 */
export type DocumentIndex = {
  /** The document of a row as it is now, ready to be sent; where the row does not exist in that world, its removal. Pure. */
  present(row: DocumentRow, neighbours: Neighbours): IndexableDocument;
  /**
   * Writes documents in one request; an older state never replaces a newer one, and repeating a request changes nothing. One
   * outcome per document, in order. With `refresh` they can be found once it resolves. Rejects when the request as a whole
   * failed or was aborted, whether or not it took effect: worth another try, later.
   */
  write(
    documents: readonly IndexableDocument[],
    options: { readonly refresh: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly WriteOutcome[]>;
  /** Nobody reads the documents' bytes any more: what is made next may stand in their place. Not to be called twice. */
  release(documents: readonly IndexableDocument[]): void;
  /** Makes everything written so far visible to searches. */
  refresh(): Promise<void>;
};

/** A row in a world, as of a log position. */
export type DocumentRow = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly position: bigint;
};

/** `bytes` are opaque to projections, and what a request has to carry of the document. */
export type IndexableDocument = DocumentRow & { readonly bytes: Uint8Array };

/** `again`: not now, for a reason that passes. `refused`: never in this state. */
export type WriteOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'again'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A relation (either side) or `localizations`, of rows or components: one step between rows of content types. */
export type Hop = { readonly space: RowSpace; readonly attribute: string };

/** Documents of `type` show something of the rows that `path` leads to: what is in them, or only (`keysOnly`) which they are. */
export type Dependency = { readonly type: Uid; readonly path: readonly Hop[]; readonly keysOnly: boolean };

/** A linked row: its key, and the link's place among the links of the row at the other end. */
export type Neighbour = { readonly key: number; readonly otherOrder: number };

/** What a document is made of: one world as it is at one position. */
export type Neighbours = {
  /**
   * What a relation attribute (either side, or `localizations`) of a row or component leads to, in link order, ties by key; only
   * rows that exist in the world. `key` names the holder in its row space: a row's key, or the id of a component of a row that
   * `row` gave before.
   */
  linked(space: RowSpace, key: number, attribute: string): readonly Neighbour[];
  /** A row by its key; undefined when it does not exist in the world. */
  row(type: Uid, key: number): IndexedRow | undefined;
};
