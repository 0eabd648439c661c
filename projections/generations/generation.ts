import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/**
 * A content graph and what is made from it. `building`: not served yet. `live`: serves. `kept`: served before; follows the log
 * so that it can be taken up again.
 */
export type GenerationState = 'building' | 'live' | 'kept';

/** Where its graph began: at the log's first event, or as a copy of the live graph. */
export type GenerationSource = 'log' | 'copy';

export type Generation = {
  /** From 1. */
  readonly number: number;
  readonly state: GenerationState;
  readonly source: GenerationSource;
  /**
   * Where its index is outside the process: the indices of one that is not live. undefined: there are none, or it is live, and
   * the index itself says which they are.
   */
  readonly indices: IndexSet | undefined;
};

/** Scope of a rebuild. One with another scope is another rebuild. */
export type RebuildScope = {
  /** From the log, not from a copy of the graph. */
  readonly graph: boolean;
  /** A copy that is compared with nothing. */
  readonly copy?: true;
  /** Content type to rebuild and compare; absent: all. */
  readonly type?: Uid;
  readonly world?: World;
};

/**
 * `indexing`: documents are written to indices outside the process. `stopped`: the verification found differences that nobody accepted.
 * `done` and `cancelled` are ends.
 */
export type RebuildPhase =
  | 'copying'
  | 'replaying'
  | 'indexing'
  | 'verifying'
  | 'stopped'
  | 'taking over'
  | 'done'
  | 'cancelled';

/** Returns whether a phase is one of the two ends: the rebuild cannot continue from it. */
export function isEnded(phase: RebuildPhase): boolean {
  return phase === 'done' || phase === 'cancelled';
}

export type Rebuild = {
  readonly id: number;
  readonly scope: RebuildScope;
  readonly generation: number;
  readonly phase: RebuildPhase;
  /** The operator's last request for it. */
  readonly wanted: 'run' | 'pause' | 'cancel';
  readonly startedAt: string;
  readonly progress: RebuildProgress;
  /** Why it stopped, or did not continue. */
  readonly message: string | undefined;
};

/** How far a rebuild is. */
export type RebuildProgress = {
  /** Work done in this phase: events of the log, rows to compare or load, documents to write. */
  readonly done: number;
  readonly total: number;
  /** Recent rate per second. */
  readonly rate: number;
  /** Events in the log that the new generation does not show. */
  readonly lag: number;
};

export const NO_PROGRESS: RebuildProgress = { done: 0, total: 0, rate: 0, lag: 0 };

/** Returns whether two scopes are of one rebuild, so that a request for the second continues the first. */
export function sameScope(a: RebuildScope, b: RebuildScope): boolean {
  return a.graph === b.graph && a.copy === b.copy && a.type === b.type && a.world === b.world;
}

/** Returns a scope as an operator types it. */
export function describeScope({ graph, copy, type, world }: RebuildScope): string {
  const options = [
    ...(type === undefined ? [] : [`--type ${type}`]),
    ...(world === undefined ? [] : [`--world ${world}`]),
    ...(graph ? ['--graph'] : []),
    ...(copy ? ['--copy'] : []),
  ];
  return ['varve rebuild', ...options].join(' ');
}
