import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** 128 bits: nobody finds a second text of one digest by chance, and a digest fits into a URL. 22 characters of base64url. */
const BYTES = 16;

/** The beginning of the SHA-256 of a text, or of its UTF-8. */
export function digestText(text: string | Uint8Array): string {
  return hash('sha256', text, 'buffer').subarray(0, BYTES).toString('base64url');
}

/** The beginning of a text's HMAC-SHA-256. */
export function signText(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest().subarray(0, BYTES).toString('base64url');
}

/** In constant time for signatures of one length. Compared as text: no other spelling of the same bits will do. */
export function isSignature(given: string, signature: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(signature)];
  return a.length === b.length && timingSafeEqual(a, b);
}
