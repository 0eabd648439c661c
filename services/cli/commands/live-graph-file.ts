import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openGenerationStore } from '../../../projections/generations/generation-store.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';

/** The graph's file that serves, or will be made when a server starts. */
export function liveGraphFile(data: string): string {
  // A directory of before there were generations has the first alone.
  if (!existsSync(join(data, 'generations.db'))) return graphFile(data, 1);
  const generations = openGenerationStore(data);
  try {
    return graphFile(data, generations.live().number);
  } finally {
    generations.close();
  }
}
