import type { Uid } from '../schema/content-type.ts';
import type { IndexableDocument } from './document-index.ts';
import type { World } from './read-index.ts';

/** Content of an index of documents, for comparing it with the expected content. */
export type StoredDocuments = {
  /** Returns the documents that searches see, in the requested order; undefined for a missing one. */
  read(documents: readonly StoredKey[]): Promise<readonly (StoredDocument | undefined)[]>;
  /** Returns the fields that `read` should return for a document; undefined for a removal. */
  fieldsOf(document: IndexableDocument): StoredFields | undefined;
  /** Returns some keys after a key, in order, of the documents that searches see. An empty list means that there are no more. */
  keysAfter(type: Uid, world: World, after: number, limit: number): Promise<readonly number[]>;
  /** Returns the same keys as `keysAfter`, with the digest of each document. */
  sumsAfter(type: Uid, world: World, after: number, limit: number): Promise<readonly StoredSum[]>;
  /** Returns the digest that `sumsAfter` should return for a document; undefined for a removal. */
  sumOf(document: IndexableDocument): string | undefined;
  /** Makes everything visible to searches that was written to the indices of these documents. */
  refresh(documents: readonly StoredKey[]): Promise<void>;
};

export type StoredSum = { readonly key: number; readonly sum: string };

export type StoredKey = { readonly type: Uid; readonly world: World; readonly key: number };

/** Fields of a document that an index returns, by name. They are enough to distinguish it from every other state. */
export type StoredFields = { readonly [name: string]: string };

export type StoredDocument = {
  readonly fields: StoredFields;
  /** Position in the log of the state that was written. */
  readonly position: bigint;
};
