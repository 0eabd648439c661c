import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../shared/make-folder.ts';
import { isOtherProcess } from '../../../shared/other-process.ts';
import { copyDatabase } from '../../../shared/sqlite/copy-database.ts';
import { readErasedUpTo, recordErasedUpTo } from '../../erasure/erased-up-to.ts';
import type { Follows } from '../../supervisor/protocol.ts';

/** Folder of the copies that reading workers make. */
function foldersOfWorkers(data: string): string {
  return join(data, 'workers');
}

/** Removes the copies that workers of an earlier supervisor left. The caller's supervisor has locked the data directory. */
export function removeWorkerFolders(data: string): void {
  rmSync(foldersOfWorkers(data), { recursive: true, force: true });
}

/** Makes the folder of this worker, with a copy of the leader's graph. Removes the folder when this process ends. */
export function makeWorkerFolder(data: string, { number, graph }: Follows): string {
  const folders = foldersOfWorkers(data);
  makeFolder(folders);
  // A killed worker leaves its folder behind.
  for (const name of readdirSync(folders))
    if (name.startsWith(`${number}-`) && !isOtherProcess(Number(name.slice(name.indexOf('-') + 1))))
      rmSync(join(folders, name), { recursive: true, force: true });
  const folder = join(folders, `${number}-${process.pid}`);
  mkdirSync(folder, { mode: 0o700 });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Before the copy, so that it has these erasures.
  recordErasedUpTo(folder, readErasedUpTo(data));
  copyDatabase(graph, join(folder, 'graph.db'));
  return folder;
}
