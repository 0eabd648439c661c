import { hash, randomBytes } from 'node:crypto';
import { isSameText } from '../../shared/text-digest.ts';

/** Returns a new code for a mail to a user. It begins with the user's number, so the user is found without a search. */
export function newCode(user: number): string {
  return `${user.toString(36)}-${randomBytes(32).toString('hex')}`;
}

const FORM = /^([0-9a-z]{1,11})-[0-9a-f]{64}$/;

/** Returns the number of the user for whom a code was made; undefined for a text that is not a code. */
export function userOfCode(code: string): number | undefined {
  const [, user] = FORM.exec(code) ?? [];
  return user === undefined ? undefined : Number.parseInt(user, 36);
}

/**
 * Returns the hash that is stored in place of a code: nobody can guess the code's 256 random bits from it. It depends on the address to
 * which the code is mailed, so a change of address makes the code invalid.
 */
export function hashCode(code: string, email: unknown): string {
  return hash('sha256', `${code} ${String(email)}`);
}

/** Returns whether a code has this hash, in a time that does not reveal the hash. `email` is the user's present address. */
export function isCode(code: string, email: unknown, hashed: string | undefined): boolean {
  return hashed !== undefined && isSameText(hashCode(code, email), hashed);
}
