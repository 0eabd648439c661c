import { NAME_LENGTH, NAME_WORDS } from '../../services/delivery/packed-names.ts';

/** Returns the text of the packed name that begins at `at`. */
export function nameAt(words: Uint32Array, at: number): string {
  const own = words.slice(at, at + NAME_WORDS);
  return Buffer.from(own.buffer).toString('latin1', 0, NAME_LENGTH);
}
