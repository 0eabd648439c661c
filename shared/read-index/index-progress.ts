import type { Uid } from '../schema/content-type.ts';
import type { World } from './read-index.ts';

/**
 * Position up to which the documents of a namespace have caught up with the log. The writing process publishes it for
 * processes that only read, or that wait to take over.
 */
export type IndexProgress = {
  /**
   * Epoch of the leader that wrote it. It identifies the writer and gives no order: the position is true, whichever
   * leader wrote it.
   */
  readonly epoch: number;
  /** Searches see every change up to here, in the changed rows' own documents and in all that embed them; refused ones aside. */
  readonly position: bigint;
  /** The documents that the index has refused and has an earlier state of, at most PARKED_LIMIT of them. */
  readonly parked: readonly ParkedState[];
};

/** A document that the index refused as it was at a position, and why. */
export type ParkedState = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly position: bigint;
  readonly reason: string;
  /** It is not listed any more, since an operator has dropped it or has it tried again. */
  readonly isHidden?: boolean;
};

/** Number of parked documents that are published; the leader alone knows more. */
export const PARKED_LIMIT = 1_000;

/** Storage of the progress: the index itself, so that it is never ahead of the documents. For one log only. */
export type ProgressStore = {
  /** The newest one written; undefined before the first. Rejects when it cannot be read now. */
  read(): Promise<IndexProgress | undefined>;
  /** An older position never replaces a newer one. Rejects when it cannot be written now. */
  write(progress: IndexProgress): Promise<void>;
};
