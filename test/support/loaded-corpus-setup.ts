import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run for the data directory with the corpus. */
    readonly loadedCorpus: string;
  }
}

export function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'varve-corpus-'));
  provide('loadedCorpus', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
