import type { Uid } from '../schema/content-type.ts';
import type { IndexedRow, RowSet, World } from './read-index.ts';

/**
 * Write side of a read index of documents. It has one document per row and world, with copies of related rows. Projections send the
 * documents and record the stale ones. The read side is a `ReadIndex`.
 */
export type DocumentIndex = {
  /**
   * Returns the current document of a row, ready to be sent. If the row does not exist in that world, returns the removal of its document.
   * Pure.
   */
  present(row: DocumentRow, neighbours: Neighbours): IndexableDocument;
  /**
   * Writes documents in one request. An older state never replaces a newer one, and a repeated request changes nothing. Returns one outcome
   * per document, in order. With `refresh`, searches find the documents once it resolves. Rejects if the whole request failed or was
   * aborted. It may have taken effect even then: retry it later.
   */
  write(
    documents: readonly IndexableDocument[],
    options: { readonly refresh: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly WriteOutcome[]>;
  /**
   * Returns whether the index of a type and world accepts a small document now. Searches find no trace of the request. If this is true for
   * the index that has just refused a document, the index is not too busy: the document itself is the reason.
   */
  accepts(index: Pick<DocumentRow, 'type' | 'world'>, signal: AbortSignal): Promise<boolean>;
  /** Releases the documents' bytes, which later documents may then overwrite. Call it only once. */
  release(documents: readonly IndexableDocument[]): void;
  /** Makes everything written so far visible to searches. With `only`, that of one type and world, by one refresh. */
  refresh(only?: Pick<DocumentRow, 'type' | 'world'>): Promise<void>;
};

/** A row in a world at a log position. */
export type DocumentRow = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly position: bigint;
};

/** Document in the form of a request. `bytes` are its part of the request, and opaque to projections. */
export type IndexableDocument = DocumentRow & { readonly bytes: Uint8Array };

/** Outcome of a write. `again`: a temporary failure. `refused`: the document cannot be written in this state. */
export type WriteOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'again'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A step between rows of content types: a relation (from either side) or `localizations`, of rows or components. */
export type Hop = { readonly rowSet: RowSet; readonly attribute: string };

/**
 * Rows at the end of `path`, whose content the documents of `type` show. With `keysOnly` they show only the keys. `shows`: names of the
 * columns and component attributes that they show.
 */
export type Dependency = {
  readonly type: Uid;
  readonly path: readonly Hop[];
  readonly keysOnly: boolean;
  readonly shows: readonly string[];
};

/** A linked row: its key, and the link's slot among the links of the row at the other end. */
export type Neighbour = { readonly key: number; readonly otherOrder: number };

/** Source of documents: one world at one position. */
export type Neighbours = {
  /**
   * Returns the rows to which a row or component is linked by a relation attribute (from either side) or `localizations`. They are in link
   * order, ties by key. Only rows that exist in the world are included. `key` names the row, or the id of a component of a row that `row`
   * returned before.
   */
  linked(rowSet: RowSet, key: number, attribute: string): readonly Neighbour[];
  /** Returns a row by its key; undefined if it does not exist in the world. */
  row(type: Uid, key: number): IndexedRow | undefined;
};
