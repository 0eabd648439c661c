import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/**
 * State of a content graph and of the index made from it. `building`: not served yet. `live`: serves. `kept`: served before. A
 * rollback to it applies the log first.
 */
export type GenerationState = 'building' | 'live' | 'kept';

/** Source of the generation's graph: the log from its first event, or a copy of the live graph. */
export type GenerationSource = 'log' | 'copy';

export type Generation = {
  /** Number of the generation, from 1 on. */
  readonly number: number;
  readonly state: GenerationState;
  readonly source: GenerationSource;
  /**
   * Names of the indices outside the process, for a generation that is not live. It is undefined if there are none, or if the generation is
   * live: then the index itself knows the names.
   */
  readonly indices: IndexSet | undefined;
};

/** Scope of a rebuild. A request with another scope is another rebuild. */
export type RebuildScope = {
  /** True if the graph is made from the log, false if it is a copy of the live graph. */
  readonly graph: boolean;
  /** Present if the graph is a copy that is not compared. */
  readonly copy?: true;
  /** Content type to rebuild and compare; absent: all. */
  readonly type?: Uid;
  readonly world?: World;
};

/**
 * Phase of a rebuild. `indexing`: documents are written to indices outside the process. `stopped`: the verification found differences that
 * no operator accepted. `done` and `cancelled` are final.
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

/** Returns whether a phase is final: the rebuild cannot continue from it. */
export function isEnded(phase: RebuildPhase): boolean {
  return phase === 'done' || phase === 'cancelled';
}

export type Rebuild = {
  readonly id: number;
  readonly scope: RebuildScope;
  readonly generation: number;
  readonly phase: RebuildPhase;
  /** The operator's last request. */
  readonly wanted: 'run' | 'pause' | 'cancel';
  readonly startedAt: string;
  readonly progress: RebuildProgress;
  /** Reason why the rebuild stopped or did not continue. */
  readonly message: string | undefined;
};

/** Progress of a rebuild. */
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

/** Returns whether two scopes describe the same rebuild, so that a request with the second continues the first. */
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
