import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import type { ReadSidePlan } from './read-side.ts';

/**
 * After a process was killed while it led searches to another generation: the index alone knows whether that was done, so it is asked,
 * and waited for. To be called before the generations of a data directory are opened, by whoever holds it.
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
