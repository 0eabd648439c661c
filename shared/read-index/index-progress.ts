import type { Uid } from '../schema/content-type.ts';
import type { World } from './read-index.ts';

/**
 * How far the documents of a space are level with the log: written by the process that writes them, read by those that only
 * read, or that wait to take over.
 */
export type IndexProgress = {
  /** Of the leader that wrote it. It says who, not when: what it says of the documents is true whoever wrote it. */
  readonly epoch: number;
  /** Searches see every change up to here, in the changed rows' own documents and in all that embed them; refused ones aside. */
  readonly position: bigint;
  /** The documents that the index refuses, at most PARKED_LIMIT of them. */
  readonly parked: readonly ParkedState[];
};

/** A document that the index refused as it was at a position, and why. */
export type ParkedState = {
  readonly type: Uid;
  readonly world: World;
  readonly key: number;
  readonly position: bigint;
  readonly reason: string;
};

/** So many are told to other processes; more are known to the leader alone. */
export const PARKED_LIMIT = 1_000;

/** Where the progress is kept: in the index itself, so that it is never ahead of the documents. One log's only. */
export type ProgressStore = {
  /** The newest one written; undefined before the first. Rejects when it cannot be read now. */
  read(): Promise<IndexProgress | undefined>;
  /** An older position never replaces a newer one. Rejects when it cannot be written now. */
  write(progress: IndexProgress): Promise<void>;
};
