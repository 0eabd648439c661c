import { randomBytes } from 'node:crypto';
import { hmac } from '../../shared/text-digest.ts';

const PREFIX = 'varve_';
const SECRET_BYTES = 32;
const FORM = /^varve_[A-Za-z0-9_-]{43}$/;

/** 256 random bits with a prefix that people and secret scanners recognise: 49 characters. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

/** Whether it looks like a token: anything else is refused without being hashed. */
export function isSecret(text: string): boolean {
  return FORM.test(text);
}

/** HMAC-SHA-256, hexadecimal: without the key neither the log nor a look-up's timing says anything about a secret. */
export function hashSecret(key: Buffer, secret: string): string {
  return hmac(key, secret).toString('hex');
}
