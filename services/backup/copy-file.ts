import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withAdvice } from '../../shared/file-problem.ts';
import { makeFolder } from '../../shared/make-folder.ts';

export type FileSum = { readonly bytes: number; readonly sha256: string };

/**
 * Copies a file and returns its digest. `to` appears only when it is complete. Its content is durable; `syncFolders` makes its name durable.
 */
export async function copyFile(from: string, to: string): Promise<FileSum> {
  const cannotWrite = (error: unknown): never => {
    throw new CannotWrite(to, error);
  };
  const part = `${to}.part`;
  const target = await openNew(part).catch(cannotWrite);
  let sum: FileSum;
  try {
    sum = await sumFile(from, (chunk) => target.writeFile(chunk).catch(cannotWrite));
    await target.sync().catch(cannotWrite);
  } finally {
    await target.close();
  }
  await rename(part, to).catch(cannotWrite);
  return sum;
}

/** Error of the file that a copy writes, such as a full disk. Other errors are those of the original. */
export class CannotWrite extends Error {
  constructor(path: string, cause: unknown) {
    super(`cannot write ${path}: ${(withAdvice(cause) as Error).message}`, { cause });
  }
}

async function openNew(path: string): Promise<FileHandle> {
  makeFolder(dirname(path));
  await rm(path, { force: true });
  return open(path, 'wx', 0o600);
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
