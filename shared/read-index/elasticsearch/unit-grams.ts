const BLANK = 0x20;
/** Space kept from text to text, in characters: longer ones get their own. */
const KEPT_LENGTH = 2 ** 16;

type Space = {
  /** The text with its marks, as it is written. */
  readonly units: Uint16Array;
  /** What is being written: at most nine units for one of the text. */
  readonly out: Uint16Array;
  /** An open hash table of pairs; a slot is taken when its stamp is the round's. */
  readonly pairs: Int32Array;
  readonly stamps: Uint32Array;
  readonly singles: Uint32Array;
  round: number;
};

function createSpace(length: number): Space {
  const slots = 2 ** Math.ceil(Math.log2(length * 2 + 16));
  return {
    units: new Uint16Array(length),
    out: new Uint16Array(length * 9),
    pairs: new Int32Array(slots),
    stamps: new Uint32Array(slots),
    singles: new Uint32Array(2 ** 16),
    round: 0,
  };
}

let kept = createSpace(KEPT_LENGTH);

/**
 * Every three neighbouring units of a marked text in order, then each distinct one but the marks, and two, with blanks between.
 * `standIns` has what is written for each unit. Done on numbers: as strings and a `Set` the pieces of a text take four times as
 * long.
 */
export function unitGrams(text: string, standIns: Uint16Array, marks: readonly [number, number]): string {
  const length = text.length + 2;
  if (kept.round === 2 ** 32 - 1) kept = createSpace(KEPT_LENGTH);
  const space = length > KEPT_LENGTH ? createSpace(length) : kept;
  space.round++;
  const units = space.units.subarray(0, length);
  for (let i = 0; i < text.length; i++) units[i + 1] = standIns[text.charCodeAt(i)] as number;
  [units[0], units[length - 1]] = marks;
  const end = writePieces(space, units, writeTriples(space.out, units));
  // Without the last blank.
  return Buffer.from(space.out.buffer, 0, (end - 1) * 2).toString('utf16le');
}

function writeTriples(out: Uint16Array, units: Uint16Array): number {
  let at = 0;
  for (let i = 2; i < units.length; i++) {
    out[at++] = units[i - 2] as number;
    out[at++] = units[i - 1] as number;
    out[at++] = units[i] as number;
    out[at++] = BLANK;
  }
  return at;
}

function writePieces(space: Space, units: Uint16Array, from: number): number {
  const { out, singles, round } = space;
  let at = from;
  for (let i = 1; i < units.length; i++) {
    const a = units[i - 1] as number;
    const b = units[i] as number;
    if (addPair(space, (a << 16) | b)) {
      out[at++] = a;
      out[at++] = b;
      out[at++] = BLANK;
    }
    // The mark at the end is in every text.
    if (i + 1 < units.length && singles[b] !== round) {
      singles[b] = round;
      out[at++] = b;
      out[at++] = BLANK;
    }
  }
  return at;
}

/** False when it was there. */
function addPair({ pairs, stamps, round }: Space, pair: number): boolean {
  const mask = pairs.length - 1;
  let slot = (Math.imul(pair, 0x9e3779b1) >>> 7) & mask;
  while (stamps[slot] === round) {
    if (pairs[slot] === pair) return false;
    slot = (slot + 1) & mask;
  }
  stamps[slot] = round;
  pairs[slot] = pair;
  return true;
}
