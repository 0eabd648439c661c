import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import type { ReadSidePlan } from './read-side.ts';

/**
 * Completes an alias switch that a killed process had begun. Only the index knows whether the aliases were moved, so this asks it and waits
 * for the answer. The holder of the data directory calls it before it opens generations.
 */
export async function finishSwitch(data: string, plan: ReadSidePlan | undefined): Promise<void> {
  if (plan?.outside === undefined || !existsSync(join(data, 'generations.db'))) return;
  const store = openGenerationStore(data);
  try {
    const next = store.switching();
    if (next?.indices === undefined) return;
    if (await plan.outside.isLive(next.indices)) store.setLive(next.number);
    else store.markSwitch(undefined);
  } finally {
    store.close();
  }
}
