import type { NameSet } from './name-set.ts';
import type { TagForm } from './tag-headers.ts';

/** Writes names as one header; undefined: there is no room for them. */
export type WriteNames = (opaque: NameSet, plain: ReadonlySet<string>) => string | undefined;

/** Names are numbers in this notation. */
export const RADIX = 36;
const DIGITS = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz');
const LOW_DIGITS = 5;
/** A name is written as two integers of 32 bits, which are divided fast. */
const LOW = RADIX ** LOW_DIGITS;
const LONGEST_NAME = 10;

/**
 * Creates the text of headers in a receiver's form. It writes their bytes, from the last one to the first: texts of single names would be
 * an object each.
 */
export function createWriteNames({ tags, bytes, separator, quote }: TagForm): WriteNames {
  const between = Buffer.from(quote + separator + quote);
  const room = bytes + between.length + LONGEST_NAME;
  const header = Buffer.allocUnsafeSlow(room);
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
      at = writeName(header, at, names[i] as number);
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
function writeName(into: Uint8Array, before: number, name: number): number {
  const high = Math.trunc(name / LOW) | 0;
  if (high === 0) return writeDigits(into, before, name | 0, 1);
  const at = writeDigits(into, before, (name - high * LOW) | 0, LOW_DIGITS);
  return writeDigits(into, at, high, 1);
}

/** Writes at least `least` digits. */
function writeDigits(into: Uint8Array, before: number, value: number, least: number): number {
  let at = before;
  for (let left = value | 0; left > 0 || before - at < least; ) {
    // V8 divides integers by a constant without a division.
    const next = (left / RADIX) | 0;
    into[--at] = DIGITS[left - Math.imul(next, RADIX)] as number;
    left = next;
  }
  return at;
}
