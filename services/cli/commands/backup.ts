import { dirname, join, resolve } from 'node:path';
import { explainDamage } from '../../../shared/event-store/sqlite/damaged-log.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { makeFolder } from '../../../shared/make-folder.ts';
import { packageVersion } from '../../../shared/package-version.ts';
import { lockDataDirectory } from '../../../shared/sqlite/lock-data-directory.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { readManifest } from '../../backup/manifest.ts';
import { restoreBackup } from '../../backup/restore-backup.ts';
import { writeBackup } from '../../backup/write-backup.ts';
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

/** `varve restore`: creates a data directory from a backup. */
export async function restore(settings: BackupSettings, _options: object, folder: string): Promise<void> {
  const file = requireLogFile(settings, 'restore it');
  const address = assetsAddress(settings);
  const { log } = readManifest(folder);
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
    }).finally(progress.end);
    console.log(`${presentManifest(manifest)} restored to ${settings.data}`);
    console.log(
      graph === 'same'
        ? 'all files are unchanged, and a replay of the log gives the same content'
        : 'all files are unchanged; the content graph was not compared: the backup has no digests of it in a known form',
    );
  } finally {
    lock.release();
  }
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
