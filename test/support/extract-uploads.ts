import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { archiveFiles } from '../../services/strapi/archive.ts';

const UPLOADS = 'assets/uploads/';

/** Writes the uploaded files of an archive to a folder, as the project of the archive has them. */
export async function extractUploads(archive: string, folder: string): Promise<void> {
  for await (const { name, content } of archiveFiles({ file: archive }))
    if (name.startsWith(UPLOADS))
      writeFileSync(join(folder, name.slice(UPLOADS.length)), Buffer.concat(await Array.fromAsync(content)));
}
