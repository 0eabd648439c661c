import { UPLOADS_PATH } from '../../shared/asset-store/served-names.ts';
import type { FileInfo } from './file-info.ts';
import { cleanFileName } from './file-name.ts';
import type { ReceivedFile } from './receive-upload.ts';

/** Returns the public name of the content with a hash. The name cannot be computed from the hash alone. */
export type UploadName = (hash: string) => string;

/** Attributes of `plugin::upload.file` that follow from a file's bytes. */
export function contentValues({ staged, media }: ReceivedFile, uploadName: UploadName) {
  const { ext, mime, width, height } = media;
  return {
    hash: staged.hash,
    ext,
    mime,
    width,
    height,
    // Kilobytes with two decimals, as Strapi counts them.
    size: Math.round(staged.size / 10) / 100,
    url: `${UPLOADS_PATH}${uploadName(staged.hash)}${ext}`,
    provider: 'local',
  };
}

/** Attributes of a file that the client sets. */
export function infoValues({ name, ...others }: FileInfo) {
  const said = Object.entries(others).filter(([, value]) => value !== undefined);
  return { ...(name ? { name: cleanFileName(name) } : {}), ...Object.fromEntries(said) };
}
