import { type ByteSink, reserve } from './byte-sink.ts';

const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = '0123456789abcdef';
/** Size in characters of the buffer that is reused. Longer texts get their own. */
const KEPT_LENGTH = 2 ** 16;
/** Maximum bytes of a unit in JSON. A control character takes six, and the first four are always the same. */
const MOST_BYTES = 6;
const WORD_BYTES = 4;
const ESCAPED = Buffer.from('\\u00').readInt32LE();

type Buffers = {
  /** The text with its marks, as units to write. */
  readonly units: Uint16Array;
  /** JSON of each unit in UTF-8: its first four bytes (lowest first), the bytes after these, and their number. */
  readonly words: Int32Array;
  readonly tails: Uint16Array;
  readonly sizes: Uint8Array;
  /** An open hash table of pairs. A slot is taken if its stamp is that of the current round. */
  readonly pairs: Int32Array;
  readonly stamps: Uint32Array;
  readonly singles: Uint32Array;
  round: number;
};

function createBuffers(length: number): Buffers {
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

/** Returns a power of two. A short text uses only a small part of the buffer, which stays in the processor's cache. */
function slotsFor(length: number): number {
  return 1 << (32 - Math.clz32(length * 2 + 15));
}

let kept = createBuffers(KEPT_LENGTH);

/**
 * Writes a marked text as a JSON string of pieces, separated by blanks. First come every three neighbouring units in order. Then come each
 * distinct unit except the marks, and each distinct pair. `standIns` has the replacement of each unit, and 0 for surrogates. Returns false
 * for a text with a surrogate. It works on numbers, because strings and a `Set` take many times as long.
 */
export function writeUnitGrams(
  sink: ByteSink,
  text: string,
  standIns: Uint16Array,
  marks: readonly [number, number],
): boolean {
  const length = text.length + 2;
  if (kept.round === 2 ** 32 - 1) kept = createBuffers(KEPT_LENGTH);
  const buffers = length > KEPT_LENGTH ? createBuffers(length) : kept;
  buffers.round++;
  let size = encode(buffers, 0, marks[0]);
  for (let i = 1; i + 1 < length; i++) {
    const code = text.charCodeAt(i - 1);
    const unit = standIns[code] as number;
    if (unit === 0 && code !== 0) return false;
    size += encode(buffers, i, unit);
  }
  size += encode(buffers, length - 1, marks[1]);
  // A unit is in three triples, two pairs and itself, and a blank follows each of these. Four bytes are always written at once.
  reserve(sink, size * 6 + length * 3 + WORD_BYTES);
  const { view } = sink;
  view.setUint8(sink.end, QUOTE);
  const end = writePieces(buffers, length, view, writeTriples(buffers, length, view, sink.end + 1));
  // The quote replaces the last blank.
  view.setUint8(end - 1, QUOTE);
  sink.end = end;
  return true;
}

/** Encodes the unit at an index. Returns its size in bytes. */
function encode({ units, words, tails, sizes }: Buffers, at: number, unit: number): number {
  let size = 1;
  let word = unit;
  if (unit < BLANK) {
    [size, word] = [MOST_BYTES, ESCAPED];
    tails[at] = HEX.charCodeAt(unit >> 4) | (HEX.charCodeAt(unit & 15) << 8);
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
  units[at] = unit;
  words[at] = word;
  sizes[at] = size;
  return size;
}

function writeTriples(buffers: Buffers, length: number, out: DataView, from: number): number {
  const { words, sizes } = buffers;
  let at = from;
  for (let i = 2; i < length; i++) {
    if ((sizes[i - 2] as number) + (sizes[i - 1] as number) + (sizes[i] as number) === 3) {
      const [a, b, c] = [words[i - 2] as number, words[i - 1] as number, words[i] as number];
      out.setInt32(at, a | (b << 8) | (c << 16) | (BLANK << 24), true);
      at += 4;
    } else {
      at = writeUnit(buffers, i - 2, out, at);
      at = writeUnit(buffers, i - 1, out, at);
      at = writeUnit(buffers, i, out, at);
      out.setUint8(at++, BLANK);
    }
  }
  return at;
}

/** Writes a unit. May overwrite the bytes after it. */
function writeUnit({ words, tails, sizes }: Buffers, i: number, out: DataView, at: number): number {
  out.setInt32(at, words[i] as number, true);
  const size = sizes[i] as number;
  if (size > WORD_BYTES) out.setUint16(at + WORD_BYTES, tails[i] as number, true);
  return at + size;
}

function writePieces(buffers: Buffers, length: number, out: DataView, from: number): number {
  const { units, singles, round } = buffers;
  const mask = slotsFor(length) - 1;
  let at = from;
  for (let i = 1; i < length; i++) {
    const b = units[i] as number;
    if (addPair(buffers, mask, ((units[i - 1] as number) << 16) | b)) {
      at = writeUnit(buffers, i - 1, out, at);
      at = writeUnit(buffers, i, out, at);
      out.setUint8(at++, BLANK);
    }
    // Every text has the mark at the end.
    if (i + 1 < length && singles[b] !== round) {
      singles[b] = round;
      at = writeUnit(buffers, i, out, at);
      out.setUint8(at++, BLANK);
    }
  }
  return at;
}

/** Adds a pair. Returns false if the table already has it. */
function addPair({ pairs, stamps, round }: Buffers, mask: number, pair: number): boolean {
  let slot = (Math.imul(pair, 0x9e3779b1) >>> 7) & mask;
  while (stamps[slot] === round) {
    if (pairs[slot] === pair) return false;
    slot = (slot + 1) & mask;
  }
  stamps[slot] = round;
  pairs[slot] = pair;
  return true;
}
