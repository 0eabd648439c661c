import { join } from 'node:path';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { openFolderAssetStore } from '../../shared/asset-store/folder/folder-asset-store.ts';
import { loadOptional } from '../../shared/load-optional.ts';
import { type LogSettings, logFolder } from './open-event-store.ts';

/** Where uploaded files are kept: as set, else beside the log, so that all processes of one file have the same, or with the data. */
export function assetsPlace(settings: LogSettings & { readonly assets?: string | undefined }): string {
  return settings.assets ?? join(logFolder(settings) ?? settings.data, 'assets');
}

/**
 * The asset store of a place: a folder, made when it is not there, or `s3://bucket/prefix?endpoint=…&region=…&path-style=…`.
 * The client of S3 (13 MB) is loaded for such an address only. Rejects with a sentence when the place cannot be used.
 */
export async function openAssetStore(place: string): Promise<AssetStore> {
  if (!isS3(place)) return openFolderAssetStore(place);
  const { parseS3Location } = await import('../../shared/asset-store/s3/s3-location.ts');
  const { openS3AssetStore } = await loadOptional(
    '--assets s3://…',
    () => import('../../shared/asset-store/s3/s3-asset-store.ts'),
  );
  return openS3AssetStore(parseS3Location(place));
}

export function isS3(place: string): boolean {
  return place.startsWith('s3://');
}
