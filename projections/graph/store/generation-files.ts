import { join } from 'node:path';
import { removeDatabase } from '../../../shared/sqlite/copy-database.ts';

/** The graph of a generation. The first one has the name that there was before there were generations. */
export function graphFile(data: string, generation: number): string {
  return join(data, generation === 1 ? 'graph.db' : `graph-${generation}.db`);
}

/** What a copied graph is compared with: the log, replayed. */
export function checkFile(data: string, generation: number): string {
  return join(data, `graph-${generation}-check.db`);
}

/** There once SQLite found a graph's file damaged: no process uses the file again. */
export function damageMark(file: string): string {
  return `${file}-damaged`;
}

/** Removes all files of a generation. */
export function removeGeneration(data: string, generation: number): void {
  removeDatabase(graphFile(data, generation));
  removeDatabase(checkFile(data, generation));
}
