import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/**
 * 128 bits, which are 22 characters of base64url. Nobody finds a second text with the same digest by chance, and a digest fits into a URL.
 */
const BYTES = 16;

/** Returns the first 128 bits of the SHA-256 of a text, or of its UTF-8. */
export function digestText(text: string | Uint8Array): string {
  return hash('sha256', text, 'buffer').subarray(0, BYTES).toString('base64url');
}

/** Returns the HMAC-SHA-256 of a text: 32 bytes. */
export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Returns the first 128 bits of a text's HMAC-SHA-256. */
export function signText(key: Uint8Array, text: string): string {
  return hmac(key, text).subarray(0, BYTES).toString('base64url');
}

/**
 * Compares secrets, hashes and signatures, in constant time for texts of the same length. Another spelling of the same bits is not equal.
 */
export function isSameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
