import type { Uid } from '../schema/content-type.ts';
import type { Neighbours } from './document-index.ts';

/**
 * Content of an index in this process for one world, for comparing it with the expected content. It has the rows as they were written
 * (booleans may be 0 and 1), and the links. It is valid until the next `apply`.
 */
export type IndexedContent = Neighbours & {
  /** Returns some keys of a type's rows, and where to continue. `from` is 0 at first. Without `next` these were the last keys. */
  keys(
    type: Uid,
    from: number,
    limit: number,
  ): { readonly keys: readonly number[]; readonly next: number | undefined };
};
