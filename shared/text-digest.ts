import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/**
 * 128 bits: a second text with the same digest cannot be found by chance, and a digest fits into a URL. 22 characters
 * of base64url.
 */
const BYTES = 16;

/** The beginning of the SHA-256 of a text, or of its UTF-8. */
export function digestText(text: string | Uint8Array): string {
  return hash('sha256', text, 'buffer').subarray(0, BYTES).toString('base64url');
}

/** HMAC-SHA-256 of a text: 32 bytes. */
export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** The beginning of a text's HMAC-SHA-256. */
export function signText(key: Uint8Array, text: string): string {
  return hmac(key, text).subarray(0, BYTES).toString('base64url');
}

/** Compares secrets, hashes and signatures, in constant time for texts of one length. No other spelling of the same bits will do. */
export function isSameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
