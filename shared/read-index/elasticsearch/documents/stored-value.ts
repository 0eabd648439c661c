import { createHash } from 'node:crypto';
import type { FieldType, Scalar } from '../../bool-query.ts';
import { PUBLICATION_STATES } from '../../bool-query.ts';
import type { StoredValue } from '../layout/index-document.ts';

/** Lucene's limit of a term. */
const MAX_TERM_BYTES = 32_766;
/** Bytes of a longer text in its term, before the hash of the whole. */
export const PREFIX_BYTES = 32_700;

/** A column value, or an operand for comparing, as Elasticsearch stores it. */
export function storedValue(type: FieldType, value: Scalar): StoredValue {
  switch (type) {
    case 'keyword':
    case 'json':
      return storedText(String(value));
    case 'long':
      return storedInteger(BigInt(value));
    default:
      // Booleans are 0 and 1. Lucene tells -0 from 0.
      return Number(value) + 0;
  }
}

/**
 * The term of a text: itself or, beyond a term's limit, its beginning and a hash of the whole, so that equality is exact at any
 * length; texts that only differ behind 32,700 bytes compare equal in neither order nor value, but their order is arbitrary.
 */
export function storedText(text: string): string {
  const wellFormed = text.toWellFormed();
  // A UTF-16 unit takes three bytes at most.
  if (wellFormed.length * 3 <= MAX_TERM_BYTES || Buffer.byteLength(wellFormed) <= MAX_TERM_BYTES)
    return wellFormed;
  const { read } = new TextEncoder().encodeInto(wellFormed, new Uint8Array(PREFIX_BYTES));
  return wellFormed.slice(0, read) + createHash('sha256').update(wellFormed).digest('hex');
}

const INT64_OFFSET = 2n ** 63n;

/**
 * 64-bit integers are terms that sort like the integers. As numbers the largest could not be distinguished from a
 * missing value in a sort, and JSON would not be exact.
 */
function storedInteger(value: bigint): string {
  return String(value + INT64_OFFSET).padStart(20, '0');
}

/** Reads a number that `storedInteger` wrote. */
export function readInteger(stored: string): bigint {
  return BigInt(stored) - INT64_OFFSET;
}

/** Publication states are stored as ranks, which is how they sort. -1 for no state. */
export function publicationRank(state: Scalar): number {
  return PUBLICATION_STATES.indexOf(state as (typeof PUBLICATION_STATES)[number]);
}
