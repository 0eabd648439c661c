import type { Uid } from '../schema/content-type.ts';
import type { IndexedRow, RowSet, World } from './read-index.ts';

/**
 * Write side of a read index of documents: one document per row and world, with copies of rows that it reaches.
 * Projections feed it and record the stale documents. The read side is a `ReadIndex`.
 */
export type DocumentIndex = {
  /** The document of a row as it is now, ready to be sent; where the row does not exist in that world, its removal. Pure. */
  present(row: DocumentRow, neighbours: Neighbours): IndexableDocument;
  /**
   * Writes documents in one request. An older state never replaces a newer one, and a repeated request changes nothing.
   * Returns one outcome per document, in order. With `refresh`, searches find the documents once it resolves. Rejects
   * if the request as a whole failed or was aborted, whether or not it took effect: retry later.
   */
  write(
    documents: readonly IndexableDocument[],
    options: { readonly refresh: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly WriteOutcome[]>;
  /** Releases the documents' bytes: later documents may overwrite them. Call it only once. */
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

/** `bytes` are opaque to projections; they are the document's part of a request. */
export type IndexableDocument = DocumentRow & { readonly bytes: Uint8Array };

/** `again`: not now, for a reason that passes. `refused`: never in this state. */
export type WriteOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'again'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A relation (either side) or `localizations`, of rows or components: one step between rows of content types. */
export type Hop = { readonly rowSet: RowSet; readonly attribute: string };

/** Documents of `type` show data of the rows at the end of `path`: their content, or only (`keysOnly`) their keys. */
export type Dependency = { readonly type: Uid; readonly path: readonly Hop[]; readonly keysOnly: boolean };

/** A linked row: its key, and the link's slot among the links of the row at the other end. */
export type Neighbour = { readonly key: number; readonly otherOrder: number };

/** Source of documents: one world at one position. */
export type Neighbours = {
  /**
   * Rows that a relation attribute (either side, or `localizations`) of a row or component links to, in link order,
   * ties by key; only rows that exist in the world. `key` names the row, or the id of a component of a row that `row`
   * returned before.
   */
  linked(rowSet: RowSet, key: number, attribute: string): readonly Neighbour[];
  /** A row by its key; undefined when it does not exist in the world. */
  row(type: Uid, key: number): IndexedRow | undefined;
};
