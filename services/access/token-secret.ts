import { randomBytes } from 'node:crypto';
import { hmac } from '../../shared/text-digest.ts';

const PREFIX = 'varve_';
const SECRET_BYTES = 32;
const FORM = /^varve_[A-Za-z0-9_-]{43}$/;

/** Returns a new secret of 49 characters: 256 random bits after a prefix that people and secret scanners recognise. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns whether a text has the form of a token that Varve makes. */
export function isSecret(text: string): boolean {
  return FORM.test(text);
}

export const LEAST_TOKEN = 32;
export const MOST_TOKEN = 1024;

/**
 * Returns whether a text may be a token, made here or elsewhere. A token is too long to be guessed, and short enough for a header. Other
 * texts are refused without a hash.
 */
export function isTokenValue(text: string): boolean {
  return text.length >= LEAST_TOKEN && text.length <= MOST_TOKEN && /^[\x21-\x7e]+$/.test(text);
}

/** Returns the HMAC-SHA-256 of a secret in hexadecimal. Without the key neither the log nor the time of a look-up reveals the secret. */
export function hashSecret(key: Buffer, secret: string): string {
  return hmac(key, secret).toString('hex');
}
