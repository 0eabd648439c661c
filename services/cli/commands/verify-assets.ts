import { existsSync } from 'node:fs';
import { lookAtGraphContents } from '../../../projections/generations/graph-contents.ts';
import { isHash } from '../../../shared/asset-store/asset-hash.ts';
import { nameInSpace, servedName } from '../../../shared/asset-store/served-names.ts';
import { FILE_TYPE } from '../../../shared/schema/content-type.ts';
import { assetsAddress, lookAtAssets } from '../../stores/open-asset-store.ts';
import type { BackupSettings } from '../settings/settings.ts';
import { liveGraphFile } from './live-graph-file.ts';

/** An uploaded file whose content is not in the asset store. */
export type AssetDifference = {
  readonly kind: 'uploaded file';
  readonly documentId: string;
  readonly hash: string;
  readonly differing: readonly ['missing'];
};

type FileFacts = { readonly documentId: string; readonly hash: string; readonly url: string };

/** Looks for the content of every uploaded file in the content graph. Resolves to the number of these files. */
export async function verifyAssets(
  settings: BackupSettings,
  note: (difference: AssetDifference) => void,
): Promise<number> {
  const file = liveGraphFile(settings.data);
  if (!existsSync(file)) return 0;
  const address = assetsAddress(settings);
  const store = await lookAtAssets(address);
  const graph = lookAtGraphContents(file);
  try {
    let files = 0;
    for (const source of graph.sources(FILE_TYPE)) {
      const { documentId, hash, url } = source as FileFacts;
      files++;
      let content: string | undefined = hash;
      // The content of an imported file is found by its original name.
      if (!isHash(hash) || url.includes(`/${hash}`)) {
        const name = servedName(url);
        // Another server may have the file.
        if (name === undefined) continue;
        content = (await store.names.find(nameInSpace(settings.space, name)))?.hash;
      }
      if (content === undefined || (await store.size(content)) === undefined)
        note({ kind: 'uploaded file', documentId, hash, differing: ['missing'] });
    }
    return files;
  } finally {
    graph.close();
  }
}
