import {
  isEnded,
  type Rebuild,
  type RebuildPhase,
  type RebuildProgress,
} from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { Report } from '../elasticsearch/report.ts';
import type { Operations } from '../operator/operations.ts';
import type { ReadSidePlan } from '../read-side/read-side.ts';
import type { Throttle } from './throttle.ts';

/** Environment of a rebuild. */
export type RebuildHost = {
  readonly data: string;
  readonly log: EventStore;
  readonly store: GenerationStore;
  readonly throttle: Throttle;
  /** Plan of the read side that answers reads. */
  readonly plan: ReadSidePlan;
  /** Definitions of content types that a copy is converted to, ahead of the log. */
  readonly definitions: readonly TypeDefinition[];
  readonly report: Report;
  /**
   * Runs operations in the server that holds the data directory. If there is no server, this process locks the directory and runs them; a
   * builder fails with ServerGone instead. A server that starts meanwhile waits, so this is called only for short steps. Repeats `use` if
   * the server ends during it.
   */
  readonly withOperations: <Result>(use: (operations: Operations) => Promise<Result>) => Promise<Result>;
  /** True if this process switches over to the new generation; false if the server that started it does. */
  readonly takesOver: boolean;
  /** Called at every step. */
  readonly tell: (rebuild: Rebuild) => void;
  readonly now: () => number;
};

/** Error that ends the work because the operator paused or cancelled the rebuild. */
export class RebuildInterrupted extends Error {
  readonly wanted: 'pause' | 'cancel';

  constructor(wanted: 'pause' | 'cancel') {
    super(`the rebuild is to ${wanted}`);
    this.wanted = wanted;
  }
}

/** Progress of one phase of a rebuild. */
export type PhaseMeter = ReturnType<typeof enterPhase>;

const REPORT_EVERY_MS = 200;

/** Records the phase, and returns its progress meter. `done` is the progress of an earlier attempt of this phase. */
export function enterPhase(
  host: RebuildHost,
  rebuild: Rebuild,
  phase: RebuildPhase,
  { total, done: already = 0 }: { readonly total: number; readonly done?: number },
) {
  const { store, throttle } = host;
  store.enter(rebuild.id, phase);
  const started = performance.now();
  let done = already;
  let reportedAt = Number.NEGATIVE_INFINITY;
  const reportProgress = (lag: number, of = total): void => {
    const seconds = Math.max(0.001, (performance.now() - started) / 1_000);
    const progress: RebuildProgress = {
      done,
      total: Math.max(of, done),
      rate: (done - already) / seconds,
      lag,
    };
    store.advance(rebuild.id, progress);
    host.tell({ ...rebuild, phase, progress });
  };
  reportProgress(phase === 'replaying' ? total - done : 0);
  return {
    /** Counts units and the milliseconds that they took, then pauses. Throws RebuildInterrupted if the rebuild must not continue. */
    async worked(units: number, milliseconds: number, lag = 0): Promise<void> {
      done += units;
      if (performance.now() - reportedAt >= REPORT_EVERY_MS) {
        reportedAt = performance.now();
        reportProgress(lag);
      }
      const check = () => refuseInterrupted(store, rebuild);
      const counted = phase === 'replaying' || phase === 'indexing' ? units : 0;
      await throttle.rest(counted, milliseconds, check);
    },
    /** Reports 100 %, even if the estimate was higher. */
    ended: () => reportProgress(0, done),
  };
}

/** Throws RebuildInterrupted if the rebuild must not continue. */
export function refuseInterrupted(store: GenerationStore, { id }: Rebuild): void {
  const found = store.rebuild();
  if (found === undefined || found.id !== id || isEnded(found.phase)) throw new RebuildInterrupted('cancel');
  if (found.wanted !== 'run') throw new RebuildInterrupted(found.wanted);
}
