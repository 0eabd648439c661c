import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isEnded } from '../../../projections/generations/generation.ts';
import type { GenerationStore } from '../../../projections/generations/generation-store.ts';
import { PROJECTOR_VERSION } from '../../../projections/graph/store/projector-version.ts';
import type { ReadinessCheck } from '../../operating/readiness.ts';
import type { OperatorContext } from '../../operator/operation.ts';
import type { Supervisor } from '../../supervisor/connect-supervisor.ts';
import { startRebuild } from './builder.ts';

/** Lets the newly installed program make a generation and serve it. Differences are accepted, because the projector has changed. */
export type Renewal = ReturnType<typeof createRenewal>;

/** A rebuild, and the id of the last one if it had ended before. */
type Begun = { readonly store: GenerationStore; readonly before: number | undefined };

/** Creates the state without a rebuild. */
export function createRenewal(logger: Logger, supervisor: Pick<Supervisor, 'unfinished'>) {
  const running = new Set<Begun>();
  return {
    start(context: OperatorContext): void {
      const { store } = context.generations;
      const begun = { store, before: lastEnded(store) };
      running.add(begun);
      // Never rejects: a failed rebuild is logged.
      void startRebuild(context, logger, true).then((isOver) => isOver && running.delete(begun));
    },
    /** Called when this process ends. Passes an unfinished rebuild on to the worker that replaces this one. */
    async close(): Promise<void> {
      // The supervisor's answer to a hand-over may have come together with its request to stop.
      await nextTurn();
      // Another command may have waited for the same rebuild, and may have made its generation live.
      if ([...running].every(hasEnded)) return;
      logger.warn(
        {},
        'the new read model is not finished: the next worker continues it; after a restart, varve rebuild --graph --accept does',
      );
      supervisor.unfinished();
    },
  };
}

function hasEnded({ store, before }: Begun): boolean {
  const ended = lastEnded(store);
  return ended !== undefined && ended !== before;
}

/** Returns the id of the last rebuild if it has ended. */
function lastEnded(store: GenerationStore): number | undefined {
  const last = store.rebuild();
  return last !== undefined && isEnded(last.phase) ? last.id : undefined;
}

/**
 * Starts a rebuild if another version of the projector made the read model. The old read model serves meanwhile. Differences are accepted,
 * because the projector has changed.
 */
export function renewReadModel(
  renewal: Renewal,
  context: OperatorContext,
  readiness: ReadinessCheck,
  logger: Logger,
): void {
  const { graph, generations } = context;
  if (graph.projectorVersion() === PROJECTOR_VERSION) return;
  const versions = { made: graph.projectorVersion(), wanted: PROJECTOR_VERSION };
  logger.warn(
    versions,
    'another version of the projector made the read model: it stays live until a new one is built',
  );
  try {
    generations.refuseTakeOver();
  } catch (error) {
    logger.warn({ reason: (error as Error).message }, 'run varve rebuild --graph --accept to replace it');
    return;
  }
  readiness.note(
    'Another version of the projector made the read model: it stays live until a new one is built',
  );
  renewal.start(context);
}
