import { dirname, join, resolve } from 'node:path';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { localesOfEntries } from '../../../shared/document/entry.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { explainDamage } from '../../../shared/event-store/sqlite/damaged-log.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { makeFolder } from '../../../shared/make-folder.ts';
import { packageVersion } from '../../../shared/package-version.ts';
import { lockDataDirectory } from '../../../shared/sqlite/lock-data-directory.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { readManifest } from '../../backup/manifest.ts';
import { restoreBackup } from '../../backup/restore-backup.ts';
import { writeBackup } from '../../backup/write-backup.ts';
import { noteErasures, readErasures } from '../../erasure/erasure-file.ts';
import { type Repeated, repeatErasures } from '../../erasure/repeat-erasures.ts';
import { assetsAddress, isS3 } from '../../stores/open-asset-store.ts';
import { logFile, openEventStore } from '../../stores/open-event-store.ts';
import { showProgress } from '../output/import-progress.ts';
import { presentBytes } from '../output/present-amounts.ts';
import { requireLog } from '../settings/access-log.ts';
import type { JsonOption } from '../settings/command.ts';
import type { BackupSettings } from '../settings/settings.ts';
import { liveGraphFile } from './live-graph-file.ts';

/** `varve backup`: reads the files themselves, which servers may have open. */
export async function backup(settings: BackupSettings, { json }: JsonOption, folder: string): Promise<void> {
  const file = requireLogFile(settings, 'back it up');
  requireLog(settings);
  const address = assetsAddress(settings);
  const manifest = await writeBackup(folder, {
    space: settings.space,
    logFile: file,
    graphFile: liveGraphFile(settings.data),
    assets: isS3(address) ? { elsewhere: address } : { folder: address },
    keyFile: join(dirname(resolve(file)), 'access.key'),
    version: packageVersion(),
    now: new Date(),
  }).catch((error: Error) => {
    throw error.message.includes(file) ? explainDamage(file, error) : error;
  });
  console.log(
    json ? JSON.stringify(manifest, null, 2) : `${presentManifest(manifest)} backed up to ${folder}`,
  );
}

type RestoreOptions = { readonly erasures?: string };

/** `varve restore`: creates a data directory from a backup. `erasures`: file with what was erased since. */
export async function restore(
  settings: BackupSettings,
  options: RestoreOptions,
  folder: string,
): Promise<void> {
  const file = requireLogFile(settings, 'restore it');
  const address = assetsAddress(settings);
  const { log } = readManifest(folder);
  const { lines, erase, repeated } = createEraser(settings.space, options.erasures);
  const lock = lockDataDirectory(settings.data);
  try {
    makeFolder(dirname(resolve(file)));
    const progress = showProgress(log.events, 'replaying the log');
    const { manifest, graph } = await restoreBackup(folder, {
      data: settings.data,
      logFile: file,
      assetsFolder: isS3(address) ? undefined : address,
      openLog: (path) => openEventStore(`sqlite:${path}`, { space: settings.space, decode: upcast }),
      onEvents: progress.advance,
      erase,
    }).finally(progress.end);
    // A later restore of a newer backup needs also those that this backup knows nothing of.
    noteErasures(settings.data, lines);
    console.log(`${presentManifest(manifest)} restored to ${settings.data}`);
    console.log(
      graph === 'same'
        ? 'all files are unchanged, and a replay of the log gives the same content'
        : 'all files are unchanged; the content graph was not compared: the backup has no digests of it in a known form',
    );
    if (options.erasures !== undefined) console.log(presentErased(repeated()));
  } finally {
    lock.release();
  }
}

/** Returns a function that erases what a file names. Reads the file. Throws a message if it cannot be used. */
function createEraser(space: string, file: string | undefined) {
  const lines = file === undefined ? [] : readErasures(file);
  let repeated: Repeated = { erased: 0, ordered: 0 };
  return {
    lines,
    repeated: () => repeated,
    async erase(log: EventStore, graphFile: string): Promise<boolean> {
      if (lines.length === 0) return false;
      const graph = openContentGraph(graphFile);
      try {
        const localesOf = (type: string, documentId: string) =>
          localesOfEntries(graph.reader.entries(type, documentId));
        repeated = await repeatErasures({ log, space }, lines, localesOf);
      } finally {
        graph.close();
      }
      return repeated.erased > 0;
    },
  };
}

function presentErased({ erased, ordered }: Repeated): string {
  const documents = erased === 1 ? '1 document was erased again' : `${erased} documents were erased again`;
  return ordered === 0
    ? documents
    : `${documents}, and the first start erases uploaded files, with their content: ${ordered}`;
}

function requireLogFile(settings: BackupSettings, what: string): string {
  const file = logFile(settings);
  if (file !== undefined) return file;
  throw new Error(
    `the log is in KurrentDB: ${what} with KurrentDB's own tools, and the uploaded files in ${assetsAddress(settings)}; everything else is made from them`,
  );
}

function presentManifest({ log, assets, files }: Manifest): string {
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  const uploaded =
    assets.kind === 'copied'
      ? `${assets.files} uploaded files`
      : `no uploaded files (they are in ${assets.place})`;
  return `${log.events} events up to position ${log.position} and ${uploaded}, ${presentBytes(bytes)}:`;
}
