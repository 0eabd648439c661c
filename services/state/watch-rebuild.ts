import { isEnded, type Rebuild } from '../../projections/generations/generation.ts';
import type { ConditionCheck } from '../operating/conditions.ts';

/** Every phase of a rebuild reports progress several times a second, also while requests slow it down. */
const STALLED_MS = 60_000;

/** A rebuild without a process has ended with it, unless a command continues it meanwhile. */
const ABANDONED_MS = 5_000;

/**
 * Returns a check whether the rebuild of a data directory has failed or makes no progress. `last`: the last rebuild. `isWorkedOn`: whether a
 * process makes its generation.
 */
export function checkRebuild(last: () => Rebuild | undefined, isWorkedOn: () => boolean): ConditionCheck {
  const now = () => performance.now();
  let seen = '';
  let seenAt = now();
  return () => {
    const rebuild = last();
    if (rebuild === undefined || isEnded(rebuild.phase) || rebuild.wanted !== 'run') return undefined;
    const { generation, phase, progress, message } = rebuild;
    const name = `the rebuild of generation ${generation}`;
    if (phase === 'stopped' || message !== undefined)
      return { code: 'rebuild-failed', message: `${name} has stopped: ${message ?? 'no reason is known'}` };
    const facts = JSON.stringify([generation, phase, progress]);
    if (facts !== seen) {
      seen = facts;
      seenAt = now();
    }
    const silent = now() - seenAt;
    // Another process serves the generation that is ready.
    if (phase !== 'taking over' && silent >= ABANDONED_MS && !isWorkedOn())
      return { code: 'rebuild-failed', message: `${name} has stopped: its process has ended` };
    const seconds = Math.round(silent / 1_000);
    if (silent < STALLED_MS) return undefined;
    return { code: 'rebuild-stalled', message: `${name} (${phase}) has made no progress for ${seconds} s` };
  };
}

/**
 * Returns a check whether a change of content types has stopped: the rebuild failed, was paused or was cancelled.
 * `last`: the last rebuild. One that had ended before this call belongs to an earlier change. `failure`: why the last attempt failed, which
 * stays the reason while the next one runs.
 */
export function checkTypesChange(
  last: () => Rebuild | undefined,
  failure: () => string | undefined,
): ConditionCheck {
  const before = last();
  return () => {
    const rebuild = last();
    if (rebuild === undefined || (isEnded(rebuild.phase) && rebuild.id === before?.id)) return undefined;
    const reason = stopReason(rebuild) ?? (rebuild.phase === 'done' ? undefined : failure());
    if (reason === undefined) return undefined;
    return {
      code: 'types-change-stopped',
      message: `the change of content types has stopped: ${reason}`,
    };
  };
}

/** Returns why a rebuild does not continue; undefined if it does, or is done. */
function stopReason({ phase, wanted, message }: Rebuild): string | undefined {
  if (message !== undefined) return message;
  if (phase === 'cancelled') return 'it was cancelled';
  return phase === 'stopped' || wanted !== 'run' ? 'an operator has stopped it' : undefined;
}
