import { NOTE_WORDS } from '../../shared/read-index/read-index.ts';

/** Notation of names. */
export const RADIX = 36;
/** Characters of the longest name: 48 bits. */
const LONGEST_NAME = 10;
/** Words of 32 bits in a packed name: its characters, and its length in the last byte. It is kept as a note on a row. */
export const NAME_WORDS = NOTE_WORDS;

/** Position of the length in the last word. */
export const LENGTH_SHIFT = 24;

/** Two digits are written at once: half as many divisions and stores. */
const PAIR = RADIX ** 2;
const PAIRS = Uint16Array.from({ length: PAIR }, (_, n) =>
  Buffer.from(n.toString(RADIX).padStart(2, '0')).readUInt16LE(),
);
/** A name is written as two integers of 32 bits, which are divided fast. */
const LOW = PAIR ** 2;
const ZERO = 0x30;

const characters = new Uint8Array(NAME_WORDS * 4);
const view = new DataView(characters.buffer);

/** Writes a name's digits and small letters, without zeros before them, as words that are copied into a header. */
export function packName(name: number, into: Uint32Array, at: number): void {
  const high = Math.trunc(name / LOW) | 0;
  const low = (name - high * LOW) | 0;
  writePair(6, writePair(8, low));
  writePair(0, writePair(2, writePair(4, high)));
  let zeros = 0;
  while (zeros < LONGEST_NAME - 1 && characters[zeros] === ZERO) zeros++;
  if (zeros > 0) characters.copyWithin(0, zeros).fill(0, LONGEST_NAME - zeros);
  characters[LONGEST_NAME] = 0;
  characters[LONGEST_NAME + 1] = LONGEST_NAME - zeros;
  for (let word = 0; word < NAME_WORDS; word++) into[at + word] = view.getUint32(4 * word, true);
}

/** Writes the last two digits of a number at a position. Returns the number without them. */
function writePair(at: number, value: number): number {
  // V8 divides integers by a constant without a division.
  const left = (value / PAIR) | 0;
  view.setUint16(at, PAIRS[value - Math.imul(left, PAIR)] as number, true);
  return left;
}
