import type { Rebuilds } from '../operator/operation.ts';
import type { Abandon } from '../read-side/served-generations.ts';
import { type Cancelling, discardRebuild, interruptRebuild, noteAbandoned } from './cancel-rebuild.ts';

/** Returns the functions that end the rebuilds of a data directory. It removes nothing of other directories. */
export function rebuildsOf(where: Cancelling & { readonly abandon: Abandon }): Rebuilds {
  return {
    interrupt: (wanted) => interruptRebuild(where, wanted),
    discard: (rebuild, message) => discardRebuild(where, rebuild, message),
    noteAbandoned: () => noteAbandoned(where),
    dropOfOthers: async () => [],
  };
}
