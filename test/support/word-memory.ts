import type { WordFiles } from '../../shared/read-index/embedded/stored-words.ts';

export type WordMemory = WordFiles & { readonly files: Map<string, Uint8Array> };

/** Keeps stored words in memory. */
export function createWordMemory(options: Pick<WordFiles, 'fewRows'> = {}): WordMemory {
  const files = new Map<string, Uint8Array>();
  return {
    ...options,
    files,
    has: (name) => files.has(name),
    read: (name) => {
      const bytes = files.get(name);
      return bytes && new Uint8Array(bytes);
    },
    write: async (name, bytes) => {
      files.set(name, bytes);
    },
  };
}
