import { existsSync } from 'node:fs';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import { assetsPlace, isS3, openAssetStore } from '../open-asset-store.ts';
import { liveGraphFile } from './live-graph-file.ts';
import type { BackupSettings } from './settings.ts';

/** An uploaded file whose content is not in the asset store. */
export type AssetDifference = {
  readonly kind: 'uploaded file';
  readonly documentId: string;
  readonly hash: string;
  readonly differing: readonly ['missing'];
};

/** Looks for the content of every uploaded file that the content graph knows. Resolves to how many those are. */
export async function verifyAssets(
  settings: BackupSettings,
  note: (difference: AssetDifference) => void,
): Promise<number> {
  const file = liveGraphFile(settings.data);
  if (!existsSync(file)) return 0;
  const place = assetsPlace(settings);
  // Opening a folder would make it.
  const store = isS3(place) || existsSync(place) ? await openAssetStore(place) : undefined;
  const graph = readGraphContents(file);
  try {
    let files = 0;
    for (const source of graph.sources(FILE_TYPE)) {
      const { documentId, hash } = source as { readonly documentId: string; readonly hash: string };
      files++;
      if ((await store?.size(hash)) === undefined)
        note({ kind: 'uploaded file', documentId, hash, differing: ['missing'] });
    }
    return files;
  } finally {
    graph.close();
  }
}
