import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { lookAtContentGraph } from '../../projections/graph/content-graph.ts';
import { PROJECTOR_VERSION } from '../../projections/graph/store/projector-version.ts';
import { namesInFolder } from '../../shared/names-in-folder.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { fitsPart, type GraphSnapshot } from './snapshot-pace.ts';

/** Where the snapshots of a graph are: a folder, and the number of the generation. Those of other generations and projectors do not count. */
export type SnapshotFolder = { readonly folder: string; readonly generation: number };

const NAME = /^(\d{1,20})-(\d+)-(\d+)\.db\.zst$/;

/** Returns the snapshots of a generation, the latest first. Reads only the names: `expandSnapshot` finds damage. */
export function listSnapshots({ folder, generation }: SnapshotFolder): readonly GraphSnapshot[] {
  const found = namesInFolder(folder).flatMap((name) => {
    const [, position = '', ...madeBy] = NAME.exec(name) ?? [];
    if (madeBy.map(Number).join() !== `${generation},${PROJECTOR_VERSION}`) return [];
    const file = join(folder, name);
    const bytes = statSync(file, { throwIfNoEntry: false })?.size;
    return bytes === undefined ? [] : [{ file, position: BigInt(position), bytes }];
  });
  return found.sort((a, b) => (a.position < b.position ? 1 : -1));
}

/** Removes the snapshots of other generations and of other versions of the projector: after a rebuild or an upgrade. */
export function removeOtherSnapshots(where: SnapshotFolder): void {
  const own = new Set(listSnapshots(where).map(({ file }) => file));
  for (const name of namesInFolder(where.folder)) {
    const file = join(where.folder, name);
    if (NAME.test(name) && !own.has(file)) rmSync(file, { force: true });
  }
}

/**
 * Writes a snapshot of a graph's file, which another process or connection may be writing. `scratch`: path next to which the work is done;
 * it is on the same disk. Resolves with the snapshot, which appears only when it is complete.
 */
export async function writeSnapshot(
  graph: string,
  { folder, generation }: SnapshotFolder,
  scratch: string,
): Promise<GraphSnapshot> {
  const compressed = `${scratch}.zst`;
  try {
    copyDatabase(graph, scratch);
    const position = positionOf(scratch);
    const output = createWriteStream(compressed, { mode: 0o600 });
    await pipeline(createReadStream(scratch), createZstdCompress({ params: COMPRESSION }), output);
    const file = join(folder, `${position}-${generation}-${PROJECTOR_VERSION}.db.zst`);
    renameSync(compressed, file);
    return { file, position, bytes: statSync(file).size };
  } finally {
    removeDatabase(scratch);
    rmSync(compressed, { force: true });
  }
}

/**
 * Writes a snapshot, and removes it if the snapshots are then too large for the log. Resolves with whether it was kept: otherwise a new attempt
 * fails too, until the log has grown. `logBytes`: size of the log.
 */
export async function keepSnapshot(
  graph: string,
  where: SnapshotFolder,
  { scratch, logBytes }: { readonly scratch: string; readonly logBytes: number },
): Promise<boolean> {
  const { file } = await writeSnapshot(graph, where, scratch);
  if (fitsPart(listSnapshots(where), logBytes)) return true;
  rmSync(file, { force: true });
  return false;
}

/** The checksum finds bytes that have changed. */
const COMPRESSION = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };

/** Writes the graph of a snapshot to a file. Rejects if the snapshot is damaged. */
export async function expandSnapshot(snapshot: GraphSnapshot, file: string): Promise<void> {
  await pipeline(
    createReadStream(snapshot.file),
    createZstdDecompress(),
    createWriteStream(file, { mode: 0o600 }),
  );
  const position = positionOf(file);
  if (position !== snapshot.position) throw new Error(`its graph is at position ${position}`);
}

function positionOf(file: string): bigint {
  const graph = lookAtContentGraph(file);
  try {
    return graph.position();
  } finally {
    graph.close();
  }
}
