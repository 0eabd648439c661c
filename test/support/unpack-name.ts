import { NAME_WORDS } from '../../services/delivery/packed-name.ts';

/** Returns the text of the packed name that begins at `at`. */
export function unpackName(words: Uint32Array, at: number): string {
  const bytes = Buffer.alloc(4 * NAME_WORDS);
  for (let word = 0; word < NAME_WORDS; word++) bytes.writeUInt32LE(words[at + word] as number, 4 * word);
  return bytes.toString('latin1', 0, bytes.at(-1));
}
