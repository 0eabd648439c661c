import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../shared/make-folder.ts';

export type FileSum = { readonly bytes: number; readonly sha256: string };

/**
 * Copies a file and returns its digest. `to` appears only when it is complete. Its content is durable; `syncFolders` makes its name durable.
 */
export async function copyFile(from: string, to: string): Promise<FileSum> {
  makeFolder(dirname(to));
  const part = `${to}.part`;
  await rm(part, { force: true });
  const target = await open(part, 'wx', 0o600);
  let sum: FileSum;
  try {
    sum = await sumFile(from, (chunk) => target.writeFile(chunk));
    await target.sync();
  } finally {
    await target.close();
  }
  await rename(part, to);
  return sum;
}

/** Reads a whole file and returns its size in bytes and its SHA-256. `take` gets each part of it. */
export async function sumFile(path: string, take?: (chunk: Buffer) => Promise<void>): Promise<FileSum> {
  const sum = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    sum.update(chunk);
    bytes += chunk.length;
    await take?.(chunk);
  }
  return { bytes, sha256: sum.digest('hex') };
}
