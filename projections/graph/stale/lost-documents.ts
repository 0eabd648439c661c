import type { Uid } from '../../../shared/schema/content-type.ts';
import { transaction } from '../../../shared/sqlite/transaction.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import type { StaleRows } from './stale-rows.ts';

/** Position of marks for which no position waits. */
export const AFTER_ALL_CHANGES = Number.MAX_SAFE_INTEGER;

/** Part of the record that concerns types whose reads are refused. */
export type LostDocuments = {
  /**
   * Marks every row of these types, because their indices were lost. No write waits for them, and positions count as shown without them:
   * reads of these types are refused until `areLost` returns false.
   */
  markLost(types: readonly Uid[]): void;
  /** Returns whether documents of these types that `markLost` has marked are not written yet. */
  areLost(types: readonly Uid[]): boolean;
  /** Returns whether some document of a type lacks a change up to a position. */
  isBehind(type: Uid, position: bigint): boolean;
  /** Lets positions count as shown without these types, because their reads are refused. Replaces the types of earlier calls. */
  disregard(types: readonly Uid[]): void;
  /** Returns the types without which positions count as shown. */
  disregarded(): readonly Uid[];
};

type MarkedGraph = { readonly db: GraphDatabase; readonly position: () => bigint };

/** Creates the part. */
export function lostDocuments({ db, position }: MarkedGraph, stale: StaleRows): LostDocuments {
  return {
    markLost(types) {
      const change = { since: AFTER_ALL_CHANGES, position: Number(position()) };
      transaction(db.connection, () => stale.markTypes(types, change, true));
    },
    areLost(types) {
      return stale.hasMarks(types, {
        since: AFTER_ALL_CHANGES,
        position: AFTER_ALL_CHANGES,
      });
    },
    isBehind(type, at) {
      return stale.hasMarks([type], { since: 0, position: Number(at) });
    },
    disregard: stale.disregard,
    disregarded: stale.disregarded,
  };
}
