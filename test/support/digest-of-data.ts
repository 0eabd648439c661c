import { hash } from 'node:crypto';
import { join } from 'node:path';
import { digestGraph } from '../../projections/generations/compare-graphs.ts';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';

/** Returns a digest of the content and of the data that decides on writes. It omits positions and leases: they depend on restarts. */
export function digestOfData(data: string) {
  const graph = readGraphContents(join(data, 'graph.db'));
  try {
    const groups = [...digestGraph(graph)].filter(([group]) => !/^(rows of|graph: lease)/.test(group));
    const rows = graph.types().map((type) => {
      const sources = Array.from(graph.sources(type), (source) => JSON.stringify(source)).sort();
      return [type, sources.length, hash('sha256', sources.join())];
    });
    return { groups, rows };
  } finally {
    graph.close();
  }
}
