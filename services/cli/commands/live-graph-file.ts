import { existsSync } from 'node:fs';
import { lookAtGenerations } from '../../../projections/generations/generation-store.ts';
import { type GraphContents, readFromGraph } from '../../../projections/generations/graph-contents.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';

/** Returns the file of the live graph, or the file that a server will create when it starts. */
export function liveGraphFile(data: string): string {
  const generations = lookAtGenerations(data);
  try {
    return graphFile(data, generations.live().number);
  } finally {
    generations.close();
  }
}

/** Reads the live graph with `read`. Returns undefined if no server has made it yet. */
export function readLiveGraph<Result>(
  data: string,
  read: (contents: GraphContents) => Result,
): Result | undefined {
  const file = liveGraphFile(data);
  return existsSync(file) ? readFromGraph(file, read) : undefined;
}
