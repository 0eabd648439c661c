import type { WordFiles } from '../../shared/read-index/embedded/stored-words.ts';

export type WordMemory = WordFiles & { readonly files: Map<string, Uint8Array> };

/** Keeps stored words in memory. */
export function createWordMemory(options: Pick<WordFiles, 'fewRows'> = {}): WordMemory {
  const files = new Map<string, Uint8Array>();
  return {
    ...options,
    files,
    has: (name) => files.has(name),
    *read(name) {
      const bytes = files.get(name);
      yield;
      return bytes && new Uint8Array(bytes);
    },
    write: async (name, bytes) => {
      files.set(name, bytes);
    },
  };
}

/** Reads stored words without pauses. */
export function readAtOnce(files: WordFiles, name: string): Uint8Array<ArrayBuffer> | undefined {
  const reading = files.read(name);
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}
