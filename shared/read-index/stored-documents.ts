import type { Uid } from '../schema/content-type.ts';
import type { IndexableDocument } from './document-index.ts';
import type { World } from './read-index.ts';

/** Content of an index of documents, for comparing it with the expected content. */
export type StoredDocuments = {
  /** Documents that searches see, in the order asked; undefined if there is none. */
  read(documents: readonly StoredKey[]): Promise<readonly (StoredDocument | undefined)[]>;
  /** Expected fields of a document from `read`; undefined for a removal. */
  fieldsOf(document: IndexableDocument): StoredFields | undefined;
  /** Some keys after a key, in order, of the documents that searches see. An empty list ends them. */
  keysAfter(type: Uid, world: World, after: number, limit: number): Promise<readonly number[]>;
  /** The same with the digest of each whole document. */
  sumsAfter(type: Uid, world: World, after: number, limit: number): Promise<readonly StoredSum[]>;
  /** Expected sum of a document from `sumsAfter`; undefined for a removal. */
  sumOf(document: IndexableDocument): string | undefined;
  /** Has searches see everything that was written to the indices of these documents. */
  refresh(documents: readonly StoredKey[]): Promise<void>;
};

export type StoredSum = { readonly key: number; readonly sum: string };

export type StoredKey = { readonly type: Uid; readonly world: World; readonly key: number };

/** Fields that an index returns of a document, by name: enough to distinguish it from every other state. */
export type StoredFields = { readonly [name: string]: string };

export type StoredDocument = {
  readonly fields: StoredFields;
  /** The log position it was written as of. */
  readonly position: bigint;
};
