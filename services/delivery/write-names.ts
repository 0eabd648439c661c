import type { NameSet } from './name-set.ts';
import type { TagForm } from './tag-headers.ts';

/** Writes names as one header; undefined: there is no room for them. */
export type WriteNames = (opaque: NameSet, plain: ReadonlySet<string>) => string | undefined;

/** Names are numbers in this notation. */
export const RADIX = 36;
const DIGITS = [...'0123456789abcdefghijklmnopqrstuvwxyz'];
const ZERO = 0x30;
/** Two digits are written at once: half as many divisions and stores. */
const PAIR = RADIX ** 2;
const PAIRS = Uint16Array.from(
  DIGITS.flatMap((first) => DIGITS.map((second) => Buffer.from(first + second).readUInt16LE())),
);
/** A name is written as two integers of 32 bits, which are divided fast. */
const LOW = PAIR ** 2;
const LONGEST_NAME = 10;

/**
 * Creates the text of headers in a receiver's form. It writes their bytes, from the last one to the first: texts of single names would be
 * an object each.
 */
export function createWriteNames({ tags, bytes, separator, quote }: TagForm): WriteNames {
  const between = Buffer.from(quote + separator + quote);
  const room = bytes + between.length + LONGEST_NAME;
  const header = Buffer.allocUnsafeSlow(room);
  const words = new DataView(header.buffer, header.byteOffset, room);
  const end = room - quote.length;
  header.write(quote, end, 'latin1');
  return (opaque, plain) => {
    const { names } = opaque;
    const count = opaque.size();
    if (count + plain.size > tags) return undefined;
    /** The first name may begin here. */
    const first = room - bytes + quote.length;
    let at = end;
    for (const name of plain) {
      if (at - name.length < first) return undefined;
      at = writeBetween(header, at - name.length, between);
      header.write(name, at + between.length, 'latin1');
    }
    for (let i = count - 1; i >= 0; i--) {
      at = writeName(header, words, at, names[i] as number);
      if (at < first) return undefined;
      at = writeBetween(header, at, between);
    }
    // The first name has nothing before it but a quotation mark.
    return header.toString('latin1', at + separator.length + quote.length, room);
  };
}

/** Writes bytes before a position. Returns their own. */
function writeBetween(into: Uint8Array, before: number, between: Uint8Array): number {
  const at = before - between.length;
  for (let i = 0; i < between.length; i++) into[at + i] = between[i] as number;
  return at;
}

/** Writes a name as digits and small letters before a position. Returns that of its first digit. */
function writeName(into: Uint8Array, words: DataView, before: number, name: number): number {
  const high = Math.trunc(name / LOW) | 0;
  const low = (name - high * LOW) | 0;
  writePair(words, before - 4, writePair(words, before - 2, low));
  const left = writePair(words, before - 8, writePair(words, before - 6, high));
  writePair(words, before - LONGEST_NAME, left);
  let at = before - LONGEST_NAME;
  while (into[at] === ZERO && at < before - 1) at++;
  return at;
}

/** Writes the last two digits of a number at a position. Returns the number without them. */
function writePair(into: DataView, at: number, value: number): number {
  // V8 divides integers by a constant without a division.
  const left = (value / PAIR) | 0;
  into.setUint16(at, PAIRS[value - Math.imul(left, PAIR)] as number, true);
  return left;
}
