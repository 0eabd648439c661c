import { NOTE_WORDS } from '../../shared/read-index/read-index.ts';
import { hmac } from '../../shared/text-digest.ts';

/** Notation of names. */
const RADIX = 36;
/** Number of words of 32 bits in a packed name, which consists of its characters. The read index keeps it as a note on a row. */
export const NAME_WORDS = NOTE_WORDS;
/** Number of characters in a name. */
export const NAME_LENGTH = 4 * NAME_WORDS;
/** Number of bytes that a name represents. Tags that have the same name by chance are purged together. */
const DIGEST_BYTES = 5;
/** Maximum number of remembered names. */
const MOST_KNOWN = 20_000;

/** Names of texts, as words that are copied into a header. */
export type PackedNames = {
  readonly words: Uint32Array;
  /** Returns where the name of a text begins in `words`. Valid until the next call. */
  placeOf(text: string): number;
  textOf(text: string): string;
};

/** Creates names: keyed digests, equal in all processes with the same key. Remembers the last names. */
export function createPackedNames(key: Uint8Array): PackedNames {
  const known = new Map<string, number>();
  const words = new Uint32Array(MOST_KNOWN * NAME_WORDS);
  const characters = Buffer.from(words.buffer);
  const placeOf = (text: string): number => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size === MOST_KNOWN) known.clear();
    const place = known.size * NAME_WORDS;
    characters.write(nameOf(hmac(key, text)), 4 * place, 'latin1');
    known.set(text, place);
    return place;
  };
  return {
    words,
    placeOf,
    textOf(text) {
      const from = 4 * placeOf(text);
      return characters.toString('latin1', from, from + NAME_LENGTH);
    },
  };
}

function nameOf(digest: Buffer): string {
  return digest.readUIntBE(0, DIGEST_BYTES).toString(RADIX).padStart(NAME_LENGTH, '0');
}
