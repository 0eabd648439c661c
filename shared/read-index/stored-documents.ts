import type { Uid } from '../schema/content-type.ts';
import type { IndexableDocument } from './document-index.ts';
import type { World } from './read-index.ts';

/** What an index of documents has, for comparing it with what it should have. */
export type StoredDocuments = {
  /** Documents that searches see, in the order asked; undefined where there is none. */
  read(documents: readonly StoredKey[]): Promise<readonly (StoredDocument | undefined)[]>;
  /** What `read` should give of a document; undefined for a removal. */
  fieldsOf(document: IndexableDocument): StoredFields | undefined;
  /** Some keys behind a key, in order, of the documents that searches see. None: there are no more. */
  keysAfter(type: Uid, world: World, after: number, limit: number): Promise<readonly number[]>;
  /** The same with the digest of each whole document. */
  sumsAfter(type: Uid, world: World, after: number, limit: number): Promise<readonly StoredSum[]>;
  /** What `sumsAfter` should give of a document; undefined for a removal. */
  sumOf(document: IndexableDocument): string | undefined;
  /** Has searches see everything that was written to the indices of these documents. */
  refresh(documents: readonly StoredKey[]): Promise<void>;
};

export type StoredSum = { readonly key: number; readonly sum: string };

export type StoredKey = { readonly type: Uid; readonly world: World; readonly key: number };

/** What an index gives back of a document, by name: enough to tell it from every other state. */
export type StoredFields = { readonly [name: string]: string };

export type StoredDocument = {
  readonly fields: StoredFields;
  /** The log position it was written as of. */
  readonly position: bigint;
};
