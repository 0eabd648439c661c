import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { digestGraph } from '../../projections/generations/compare-graphs.ts';
import { readFromGraph } from '../../projections/generations/graph-contents.ts';
import { makeFolder } from '../../shared/make-folder.ts';
import { copyDatabase } from '../../shared/sqlite/copy-database.ts';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import { undefinedWhenAbsent } from '../../shared/when-absent.ts';
import { copyFile, type FileSum, sumFile } from './copy-file.ts';
import { type Manifest, type NewManifest, writeManifest } from './manifest.ts';
import { syncFolders, syncNames } from './sync-folders.ts';

export type BackupSource = {
  readonly space: string;
  /** File of the log. A server may have it open. */
  readonly logFile: string;
  /** File of the live generation; it need not exist. */
  readonly graphFile: string;
  /** Location of uploaded files. They are copied only from a folder. */
  readonly assets: { readonly folder: string } | { readonly elsewhere: string };
  /** Key that hashes tokens; it need not exist. */
  readonly keyFile: string | undefined;
  readonly version: string;
  readonly now: Date;
};

type Files = { [path: string]: FileSum };

/**
 * Copies a log as it is at one moment, with the uploaded files it names, to a folder that does not exist or is empty. Writes continue
 * during the copy. The manifest comes last.
 */
export async function writeBackup(folder: string, source: BackupSource): Promise<NewManifest> {
  makeFolder(folder);
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty: name a new folder`);
  const files: Files = {};
  // The graph is read before the log, so that the log's end is not before it. Uploaded files are copied again after the
  // log, which may name newer ones.
  const graph = readGraph(source.graphFile);
  await copyAssets(folder, source, files);
  copyDatabase(source.logFile, join(folder, 'events.db'));
  await copyAssets(folder, source, files);
  await copyNames(folder, source, files);
  const assets = Object.values(files);
  files['events.db'] = await sumFile(join(folder, 'events.db'));
  if (source.keyFile !== undefined && existsSync(source.keyFile)) {
    files['access.key'] = await copyFile(source.keyFile, join(folder, 'access.key'));
  }
  const manifest: NewManifest = {
    format: 3,
    madeAt: source.now.toISOString(),
    varve: source.version,
    space: source.space,
    log: readLog(join(folder, 'events.db')),
    graph,
    assets:
      'elsewhere' in source.assets
        ? { kind: 'elsewhere', place: source.assets.elsewhere }
        : { kind: 'copied', files: assets.length, bytes: assets.reduce((sum, { bytes }) => sum + bytes, 0) },
    files,
  };
  // A power loss must not leave a manifest without the files that it names.
  await syncFolders(folder);
  writeManifest(folder, manifest);
  await syncNames(folder);
  return manifest;
}

/** Returns the content of a graph in the form of a manifest; null if there is no graph. */
export function readGraph(file: string): NewManifest['graph'] {
  if (!existsSync(file)) return null;
  return readFromGraph(file, (contents) => ({
    ...contents.versions,
    position: String(contents.position),
    groups: Object.fromEntries(digestGraph(contents)),
  }));
}

/** Reads the copied log: its number of events and its last position. */
export function readLog(file: string): Manifest['log'] {
  const { connection, close } = openReadSnapshot(file);
  try {
    const row = connection.prepare('SELECT count(*) AS events, max(position) AS position FROM event').get();
    return { events: Number(row?.['events'] ?? 0), position: String(row?.['position'] ?? 0) };
  } finally {
    close();
  }
}

/**
 * Copies the names of imported files and the records of the content that each names. They are small, and a name may mean other content
 * later.
 */
async function copyNames(folder: string, { assets }: BackupSource, files: Files): Promise<void> {
  if ('elsewhere' in assets) return;
  const names = join(assets.folder, 'names');
  if (!existsSync(names)) return;
  for (const entry of readdirSync(names, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue;
    const from = join(entry.parentPath, entry.name);
    const path = `assets/names/${relative(names, from).split(sep).join('/')}`;
    const sum = await copyFile(from, join(folder, path)).catch(undefinedWhenAbsent);
    if (sum !== undefined) files[path] = sum;
  }
}

/** Copies the uploaded files that are not copied yet. The name of each is the SHA-256 of its content. */
async function copyAssets(folder: string, { assets }: BackupSource, files: Files): Promise<void> {
  if ('elsewhere' in assets || !existsSync(assets.folder)) return;
  for (const part of readdirSync(assets.folder).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    for (const hash of readdirSync(join(assets.folder, part))) {
      const path = `assets/${part}/${hash}`;
      if (files[path] !== undefined || !/^[0-9a-f]{64}$/.test(hash)) continue;
      // It may have been deleted since the folder was read.
      const sum = await copyFile(join(assets.folder, part, hash), join(folder, path)).catch(
        undefinedWhenAbsent,
      );
      if (sum === undefined) continue;
      if (sum.sha256 !== hash)
        throw new Error(`the uploaded file ${hash} is damaged: its content does not match its name`);
      files[path] = sum;
    }
  }
}
