import { createHash } from 'node:crypto';
import type { FieldType, Scalar } from '../../bool-query.ts';
import { PUBLICATION_STATES } from '../../bool-query.ts';
import type { StoredValue } from '../layout/index-document.ts';

/** Maximum bytes of a term in Lucene. */
const MAX_TERM_BYTES = 32_766;
/** Bytes of a longer text that its term contains, before the hash of the whole text. */
export const PREFIX_BYTES = 32_700;

/** Returns a column value, or an operand of a comparison, as Elasticsearch stores it. */
export function storedValue(type: FieldType, value: Scalar): StoredValue {
  switch (type) {
    case 'keyword':
    case 'json':
      return storedText(String(value));
    case 'long':
      return storedInteger(BigInt(value));
    default:
      // Booleans become 0 and 1. Adding 0 turns -0 into 0, which Lucene distinguishes.
      return Number(value) + 0;
  }
}

/**
 * Returns the term of a text. A text beyond the limit of a term becomes its beginning and a hash of the whole, so equality is exact at any
 * length. Texts that only differ after 32,700 bytes are in arbitrary order.
 */
export function storedText(text: string): string {
  const wellFormed = text.toWellFormed();
  // A UTF-16 unit takes at most three bytes.
  if (wellFormed.length * 3 <= MAX_TERM_BYTES || Buffer.byteLength(wellFormed) <= MAX_TERM_BYTES)
    return wellFormed;
  const { read } = new TextEncoder().encodeInto(wellFormed, new Uint8Array(PREFIX_BYTES));
  return wellFormed.slice(0, read) + createHash('sha256').update(wellFormed).digest('hex');
}

const INT64_OFFSET = 2n ** 63n;

/**
 * Returns a 64-bit integer as a term that sorts like the integer. In a sort of numbers, the largest could not be distinguished from a
 * missing value, and JSON would not be exact.
 */
function storedInteger(value: bigint): string {
  return String(value + INT64_OFFSET).padStart(20, '0');
}

/** Reads a number that `storedInteger` wrote. */
export function readInteger(stored: string): bigint {
  return BigInt(stored) - INT64_OFFSET;
}

/** Returns the rank of a publication state, which is stored so that states sort by rank; -1 for no state. */
export function publicationRank(state: Scalar): number {
  return PUBLICATION_STATES.indexOf(state as (typeof PUBLICATION_STATES)[number]);
}
