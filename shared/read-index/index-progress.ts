import type { Uid } from '../schema/content-type.ts';
import type { World } from './read-index.ts';

/**
 * Position up to which the documents of a namespace have caught up with the log. The writing process publishes it for processes that only
 * read, or that wait to take over.
 */
export type IndexProgress = {
  /** Epoch of the leader that wrote it. It identifies the writer but gives no order: the position is true, whichever leader wrote it. */
  readonly epoch: number;
  /**
   * Position up to which searches see every change, in the changed rows' own documents and in all that embed them. Refused documents are
   * excepted, and types in `without`.
   */
  readonly position: bigint;
  /** Types whose reads are refused: searches may lack earlier changes of them. Leaders of earlier releases name none. */
  readonly without?: readonly Uid[];
  /** Name of the log's history at the position (see EventStore). Leaders of earlier releases name none. */
  readonly history?: string;
  /** Documents that the index has refused, at most PARKED_LIMIT. The index has earlier states of them. */
  readonly parked: readonly ParkedState[];
};

/** A document that the index refused in its state at a position, with the reason. */
export type ParkedState = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly position: bigint;
  readonly reason: string;
  /** True if it is not listed any more, because an operator has dropped it or retries it. */
  readonly isHidden?: boolean;
};

/** Maximum number of parked documents that are published. Only the leader knows more of them. */
export const PARKED_LIMIT = 1_000;

/** Storage of the progress for one log. It is in the index itself, so that the progress is never ahead of the documents. */
export type ProgressStore = {
  /** Returns the newest progress; undefined before the first. Rejects if it cannot be read now. */
  read(): Promise<IndexProgress | undefined>;
  /** Writes progress. An older position never replaces a newer one. Rejects if it cannot be written now. */
  write(progress: IndexProgress): Promise<void>;
};
