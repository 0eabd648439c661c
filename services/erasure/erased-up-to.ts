import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { valueOfJson } from '../../shared/json.ts';
import { replaceFile } from '../../shared/replace-file.ts';

/** Record of a data directory: the erasures that were carried out in it. */
const FILE = 'erasures.json';
const RECORD = z.object({ position: z.string().regex(/^\d{1,18}$/) });

/** Returns the position of the last erasure that was carried out in the files of a data directory; 0n if none was. */
export function readErasedUpTo(data: string): bigint {
  try {
    const record = RECORD.safeParse(valueOfJson(readFileSync(join(data, FILE), 'utf8')));
    return BigInt(record.data?.position ?? 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0n;
  }
}

/** Records that every erasure up to a position was carried out in the files of a data directory. */
export function recordErasedUpTo(data: string, position: bigint): void {
  replaceFile(join(data, FILE), `${JSON.stringify({ position: String(position) })}\n`);
}
