import { type ByteSink, reserve } from './byte-sink.ts';

const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = '0123456789abcdef';
/** Space kept from text to text, in characters: longer ones get their own. */
const KEPT_LENGTH = 2 ** 16;
/** Of a unit in JSON: a control character is written as six. */
const MOST_BYTES = 6;

type Space = {
  /** The text with its marks, as it is written. */
  readonly units: Uint16Array;
  /** The same in JSON's UTF-8, and where each unit begins there: neighbours are neighbours in it as well. */
  readonly bytes: Uint8Array;
  readonly begins: Uint32Array;
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
    bytes: new Uint8Array(length * MOST_BYTES),
    begins: new Uint32Array(length + 1),
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
  // A unit is in three triples, two pairs and itself, and each of these has a blank behind it.
  reserve(sink, size * 6 + length * 3);
  const { bytes, end } = sink;
  // Without the last blank.
  sink.end = writePieces(space, units, bytes, writeTriples(space, length, bytes, end)) - 1;
}

/** Fills `bytes` and `begins`; answers how many bytes there are. */
function encode({ bytes, begins }: Space, units: Uint16Array): number {
  let at = 0;
  for (let i = 0; i < units.length; i++) {
    const unit = units[i] as number;
    begins[i] = at;
    if (unit < 0x80) {
      if (unit < BLANK) at = encodeControl(bytes, at, unit);
      else {
        if (unit === QUOTE || unit === BACKSLASH) bytes[at++] = BACKSLASH;
        bytes[at++] = unit;
      }
    } else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    }
  }
  begins[units.length] = at;
  return at;
}

function encodeControl(bytes: Uint8Array, from: number, unit: number): number {
  const escaped = `\\u00${HEX[unit >> 4]}${HEX[unit & 15]}`;
  for (let i = 0; i < MOST_BYTES; i++) bytes[from + i] = escaped.charCodeAt(i);
  return from + MOST_BYTES;
}

function writeTriples({ bytes, begins }: Space, length: number, out: Uint8Array, from: number): number {
  let at = from;
  for (let i = 3; i <= length; i++) {
    const end = begins[i] as number;
    for (let j = begins[i - 3] as number; j < end; j++) out[at++] = bytes[j] as number;
    out[at++] = BLANK;
  }
  return at;
}

function writePieces(space: Space, units: Uint16Array, out: Uint8Array, from: number): number {
  const { bytes, begins, singles, round } = space;
  const mask = slotsFor(units.length) - 1;
  let at = from;
  for (let i = 1; i < units.length; i++) {
    const b = units[i] as number;
    const end = begins[i + 1] as number;
    if (addPair(space, mask, ((units[i - 1] as number) << 16) | b)) {
      for (let j = begins[i - 1] as number; j < end; j++) out[at++] = bytes[j] as number;
      out[at++] = BLANK;
    }
    // The mark at the end is in every text.
    if (i + 1 < units.length && singles[b] !== round) {
      singles[b] = round;
      for (let j = begins[i] as number; j < end; j++) out[at++] = bytes[j] as number;
      out[at++] = BLANK;
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
