import { hash, randomBytes } from 'node:crypto';
import { isSameText } from '../../shared/text-digest.ts';

/** A code that is mailed to a user. It begins with the user's number, so that it is found without a search. */
export function newCode(user: number): string {
  return `${user.toString(36)}-${randomBytes(32).toString('hex')}`;
}

const FORM = /^([0-9a-z]{1,11})-[0-9a-f]{64}$/;

/** The number of the user whom a code was made for; undefined for a text that is not a code. */
export function userOfCode(code: string): number | undefined {
  const [, user] = FORM.exec(code) ?? [];
  return user === undefined ? undefined : Number.parseInt(user, 36);
}

/** The hash that is stored of a code: nobody can guess 256 random bits from it. */
export function hashCode(code: string): string {
  return hash('sha256', code);
}

/** Returns whether a code is the one of this hash. The time says nothing about the hash. */
export function isCode(code: string, hashed: string | undefined): boolean {
  return hashed !== undefined && isSameText(hashCode(code), hashed);
}
