import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Searches every file of a folder for words, in UTF-8 and UTF-16, and returns `<file>: <word>` for each one that is there. */
export async function findWords(folder: string, words: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = readIfPresent(path);
    const bytes = content.subarray(0, 4).equals(ZSTD) ? zstdDecompressSync(content) : content;
    for (const word of words)
      if (bytes.includes(word) || bytes.includes(word, 0, 'utf16le')) found.push(`${path}: ${word}`);
  }
  return found;
}

/** A server may remove a file meanwhile. */
function readIfPresent(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  }
}
