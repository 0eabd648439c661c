import { randomInt } from 'node:crypto';

const LENGTH = 10;
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Returns ten random characters of `[a-z0-9]`. People name a token or webhook by them. */
export function randomId(): string {
  return Array.from({ length: LENGTH }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
}
