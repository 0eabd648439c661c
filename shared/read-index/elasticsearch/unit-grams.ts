import { type ByteSink, reserve } from './byte-sink.ts';

const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = '0123456789abcdef';
/** Space kept from text to text, in characters: longer ones get their own. */
const KEPT_LENGTH = 2 ** 16;
/** Of a unit in JSON: a control character is written as six, of which the first four are always the same. */
const MOST_BYTES = 6;
const WORD_BYTES = 4;
const ESCAPED = Buffer.from('\\u00').readInt32LE();

type Space = {
  /** The text with its marks, as it is written. */
  readonly units: Uint16Array;
  /** The JSON of each unit in UTF-8: four bytes, the first of them lowest, what is behind these, and how many there are. */
  readonly words: Int32Array;
  readonly tails: Uint16Array;
  readonly sizes: Uint8Array;
  /** An open hash table of pairs; a slot is taken when its stamp is the round's. */
  readonly pairs: Int32Array;
  readonly stamps: Uint32Array;
  readonly singles: Uint32Array;
  round: number;
};

function createSpace(length: number): Space {
  const slots = slotsFor(length);
  return {
    units: new Uint16Array(length),
    words: new Int32Array(length),
    tails: new Uint16Array(length),
    sizes: new Uint8Array(length),
    pairs: new Int32Array(slots),
    stamps: new Uint32Array(slots),
    singles: new Uint32Array(2 ** 16),
    round: 0,
  };
}

/** A power of two. Of kept space a short text uses as little as it needs, which stays in the processor's cache. */
function slotsFor(length: number): number {
  return 2 ** Math.ceil(Math.log2(length * 2 + 16));
}

let kept = createSpace(KEPT_LENGTH);

/**
 * Writes, as a JSON string without its quotes, every three neighbouring units of a marked text in order, then each distinct one
 * but the marks, and two, with blanks between. `standIns` has what is written for each unit, none of them a surrogate. Done on
 * numbers: as strings and a `Set` the pieces of a text take many times as long.
 */
export function writeUnitGrams(
  sink: ByteSink,
  text: string,
  standIns: Uint16Array,
  marks: readonly [number, number],
): void {
  const length = text.length + 2;
  if (kept.round === 2 ** 32 - 1) kept = createSpace(KEPT_LENGTH);
  const space = length > KEPT_LENGTH ? createSpace(length) : kept;
  space.round++;
  const units = space.units.subarray(0, length);
  for (let i = 0; i < text.length; i++) units[i + 1] = standIns[text.charCodeAt(i)] as number;
  [units[0], units[length - 1]] = marks;
  const size = encode(space, units);
  // A unit is in three triples, two pairs and itself, and each of these has a blank behind it. Words are written whole.
  reserve(sink, size * 6 + length * 3 + WORD_BYTES);
  const { bytes, end } = sink;
  const out = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // Without the last blank.
  sink.end = writePieces(space, units, out, writeTriples(space, length, out, end)) - 1;
}

/** Fills `words`, `tails` and `sizes`; answers how many bytes there are. */
function encode({ words, tails, sizes }: Space, units: Uint16Array): number {
  let bytes = 0;
  for (let i = 0; i < units.length; i++) {
    const unit = units[i] as number;
    let size = 1;
    let word = unit;
    if (unit < BLANK) {
      [size, word] = [MOST_BYTES, ESCAPED];
      tails[i] = HEX.charCodeAt(unit >> 4) | (HEX.charCodeAt(unit & 15) << 8);
    } else if (unit === QUOTE || unit === BACKSLASH) {
      size = 2;
      word = BACKSLASH | (unit << 8);
    } else if (unit >= 0x800) {
      size = 3;
      word = 0xe0 | (unit >> 12) | ((0x80 | ((unit >> 6) & 0x3f)) << 8) | ((0x80 | (unit & 0x3f)) << 16);
    } else if (unit >= 0x80) {
      size = 2;
      word = 0xc0 | (unit >> 6) | ((0x80 | (unit & 0x3f)) << 8);
    }
    words[i] = word;
    sizes[i] = size;
    bytes += size;
  }
  return bytes;
}

function writeTriples(space: Space, length: number, out: DataView, from: number): number {
  const { words, sizes } = space;
  let at = from;
  for (let i = 2; i < length; i++) {
    if ((sizes[i - 2] as number) + (sizes[i - 1] as number) + (sizes[i] as number) === 3) {
      const [a, b, c] = [words[i - 2] as number, words[i - 1] as number, words[i] as number];
      out.setInt32(at, a | (b << 8) | (c << 16) | (BLANK << 24), true);
      at += 4;
    } else {
      at = writeUnit(space, i - 2, out, at);
      at = writeUnit(space, i - 1, out, at);
      at = writeUnit(space, i, out, at);
      out.setUint8(at++, BLANK);
    }
  }
  return at;
}

/** Leaves what it likes behind the unit. */
function writeUnit({ words, tails, sizes }: Space, i: number, out: DataView, at: number): number {
  out.setInt32(at, words[i] as number, true);
  const size = sizes[i] as number;
  if (size > WORD_BYTES) out.setUint16(at + WORD_BYTES, tails[i] as number, true);
  return at + size;
}

function writePieces(space: Space, units: Uint16Array, out: DataView, from: number): number {
  const { singles, round } = space;
  const mask = slotsFor(units.length) - 1;
  let at = from;
  for (let i = 1; i < units.length; i++) {
    const b = units[i] as number;
    if (addPair(space, mask, ((units[i - 1] as number) << 16) | b)) {
      at = writeUnit(space, i - 1, out, at);
      at = writeUnit(space, i, out, at);
      out.setUint8(at++, BLANK);
    }
    // The mark at the end is in every text.
    if (i + 1 < units.length && singles[b] !== round) {
      singles[b] = round;
      at = writeUnit(space, i, out, at);
      out.setUint8(at++, BLANK);
    }
  }
  return at;
}

/** False when it was there. */
function addPair({ pairs, stamps, round }: Space, mask: number, pair: number): boolean {
  let slot = (Math.imul(pair, 0x9e3779b1) >>> 7) & mask;
  while (stamps[slot] === round) {
    if (pairs[slot] === pair) return false;
    slot = (slot + 1) & mask;
  }
  stamps[slot] = round;
  pairs[slot] = pair;
  return true;
}
