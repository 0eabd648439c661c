import { join } from 'node:path';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import {
  lookAtFolderAssets,
  openFolderAssetStore,
} from '../../shared/asset-store/folder/folder-asset-store.ts';
import { loadOptional } from '../../shared/load-optional.ts';
import { type LogSettings, logFolder } from './open-event-store.ts';

/**
 * Returns the location of uploaded files: the setting, else a folder next to the log's file, else one in the data directory. All processes
 * of one log file share a folder next to it.
 */
export function assetsAddress(settings: LogSettings & { readonly assets?: string | undefined }): string {
  return settings.assets ?? join(logFolder(settings) ?? settings.data, 'assets');
}

/**
 * Opens the asset store of a location: a folder, which is created, or
 * `s3://bucket/prefix?endpoint=…&region=…&path-style=…`. Loads the client of S3 (13 MB) only for such an address.
 * Rejects with a message if the location cannot be used.
 */
export async function openAssetStore(address: string): Promise<AssetStore> {
  if (!isS3(address)) return openFolderAssetStore(address);
  const { parseS3Location } = await import('../../shared/asset-store/s3/s3-location.ts');
  const { openS3AssetStore } = await loadOptional(
    '--assets s3://…',
    () => import('../../shared/asset-store/s3/s3-asset-store.ts'),
  );
  return openS3AssetStore(parseS3Location(address));
}

/** Opens the asset store of a location for reading. A folder stays as it is. */
export async function lookAtAssets(address: string): Promise<Pick<AssetStore, 'size' | 'names'>> {
  return isS3(address) ? openAssetStore(address) : lookAtFolderAssets(address);
}

/** Returns whether an address names an S3 store; any other one is a folder. */
export function isS3(address: string): boolean {
  return address.startsWith('s3://');
}
