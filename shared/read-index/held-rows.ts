import type { Uid } from '../schema/content-type.ts';
import type { Neighbours } from './document-index.ts';

/**
 * What an index in this process holds of one world, for comparing it with what it should hold: the rows as they were given to it
 * (booleans may be 0 and 1), and the links. Of one moment, until the next `apply`.
 */
export type HeldRows = Neighbours & {
  /** Some keys of a type's rows, and where to go on; `from` is 0 at first. No `next`: these were the last. */
  keys(
    type: Uid,
    from: number,
    limit: number,
  ): { readonly keys: readonly number[]; readonly next: number | undefined };
};
