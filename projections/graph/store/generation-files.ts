import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeDatabase } from '../../../shared/sqlite/copy-database.ts';

/** Returns the file of a generation's graph. The graph of the first generation keeps the name of releases without generations. */
export function graphFile(data: string, generation: number): string {
  return join(data, generation === 1 ? 'graph.db' : `graph-${generation}.db`);
}

/** File for a replay of the log, with which a copied graph is compared. */
export function checkFile(data: string, generation: number): string {
  return join(data, `graph-${generation}-check.db`);
}

/** Copy of a generation's graph that is converted to content types ahead of the log. */
export function convertedFile(data: string, generation: number): string {
  return join(data, `graph-${generation}-converted.db`);
}

/** Marker file: SQLite found the graph's file damaged, and no process uses it again. */
export function damageMark(file: string): string {
  return `${file}-damaged`;
}

/** Returns the file whose lock the writer of the graph holds. A graph in memory locks in memory, because no other process shares it. */
export function writerLock(file: string): string {
  return file === ':memory:' ? file : `${file}-lock`;
}

/** Returns the file of a snapshot of the embedded index that was made from a graph. */
export function snapshotFile(file: string): string {
  return `${file}-index`;
}

/** Removes a snapshot of an index, also one that is not complete. */
export function removeSnapshot(file: string): void {
  for (const suffix of ['', '.part']) rmSync(`${file}${suffix}`, { force: true });
}

/** Removes all files of a generation. */
export function removeGeneration(data: string, generation: number): void {
  const graph = graphFile(data, generation);
  removeDatabase(graph);
  removeSnapshot(snapshotFile(graph));
  removeDatabase(checkFile(data, generation));
  removeDatabase(convertedFile(data, generation));
}

/** Returns the numbers of the generations of which a data directory has files. */
export function generationsOfFiles(data: string): readonly number[] {
  const found = readdirSync(data).flatMap((name) => {
    const [file, number = '1'] = GENERATION_FILE.exec(name) ?? [];
    return file === undefined ? [] : [Number(number)];
  });
  return [...new Set(found)];
}

/** Matches the graphs of generations, and the files next to them. */
const GENERATION_FILE = /^graph(?:-(\d+)(?:-check|-converted)?)?\.db(?:[-.].+)?$/;
