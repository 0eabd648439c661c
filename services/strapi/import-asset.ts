import path from 'node:path';
import type { AssetStore, StagedAsset } from '../../shared/asset-store/asset-store.ts';
import { nameInSpace } from '../../shared/asset-store/served-names.ts';
import { detectMedia } from '../assets/detect-media.ts';
import { keepingHead } from '../assets/receive-upload.ts';
import type { ArchiveFile } from './archive.ts';

/** Stores content under the name that it had in Strapi. */
type KeepNamed = (staged: StagedAsset, name: string, mime: string) => Promise<void>;

/**
 * Stores a file of the media library, or a smaller picture made of one, under the name in its URL. Its bytes determine its type, as for an
 * upload.
 */
export async function importAsset(store: AssetStore, file: ArchiveFile, keep: KeepNamed): Promise<void> {
  const name = path.posix.basename(file.name);
  const head: Uint8Array[] = [];
  const staged = await store.stage(keepingHead(file.content, head), Number.MAX_SAFE_INTEGER);
  const { mime } = await detectMedia(Buffer.concat(head), name);
  await keep(staged, name, mime);
}

/** Creates a KeepNamed for a process that is the only writer of the store. */
export function createSoleKeeper(store: AssetStore, space: string): KeepNamed {
  return async (staged, name, mime) => {
    if ((await store.size(staged.hash)) === undefined) await staged.keep();
    else await staged.discard();
    await store.names.give(nameInSpace(space, name), { hash: staged.hash, mime });
  };
}
