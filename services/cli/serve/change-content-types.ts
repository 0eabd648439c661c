import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Backoff, backoffMs } from '../../../shared/backoff.ts';
import type { Operating } from '../../operating/operating.ts';
import { rebuildOperation } from '../../operator/generations.ts';
import type { Varve } from '../../process/open-varve.ts';
import { checkTypesChange } from '../../state/watch-rebuild.ts';

export type ChangeOptions = {
  readonly operating: Operating;
  readonly logger: Logger;
  readonly isStopping: () => boolean;
};

const BACKOFF: Backoff = { firstMs: 500, longestMs: 60_000 };
const NEVER = new AbortController().signal;

/**
 * Starts a process that changes the content types in a copy of the graph. Until that is done, this process serves the types in force, and
 * repeats failed attempts. The attempts end if an operator pauses or cancels the rebuild.
 */
export function changeContentTypes(
  varve: Pick<Varve, 'operator' | 'deferred'>,
  { operating: { readiness, conditions }, logger, isStopping }: ChangeOptions,
): void {
  logger.warn(
    { changes: varve.deferred },
    'the content types have changed: requests are answered as before until a new read model is built',
  );
  readiness.note(
    'The content types have changed: requests are answered as before until the new read model is live',
  );
  let failure: string | undefined;
  conditions.watch(checkTypesChange(varve.operator.generations.store.rebuild, () => failure));
  const change = async (): Promise<void> => {
    for (let failures = 1; !isStopping(); failures++) {
      const again = backoffMs(failures, BACKOFF);
      try {
        return await makeChange(varve);
      } catch (error) {
        if (isStopping()) return;
        failure = (error as Error).message;
        logger.error({ reason: failure, again }, 'the change of the content types failed: trying again');
      }
      await delay(again, undefined, { ref: false });
    }
  };
  // Never rejects: a failed change is logged and repeated.
  void change();
}

async function makeChange({ operator }: Pick<Varve, 'operator'>): Promise<void> {
  for await (const _line of rebuildOperation.run(
    operator,
    { graph: false, copy: true, accept: false },
    NEVER,
  ));
  const made = operator.generations.store.rebuild();
  if (made === undefined || made.phase === 'done' || made.wanted !== 'run') return;
  const reason = made.message ?? 'the rebuild was interrupted';
  // The documents in the new indices are wrong, so the next attempt makes all of them again.
  if (made.phase === 'stopped') await operator.rebuilds?.discard(made, reason);
  throw new Error(reason);
}
