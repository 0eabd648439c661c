import { defined } from '../defined.ts';
import type { EntryValues } from '../document/events.ts';

/** A user's login data apart from the hash of the password. It is the value of LOGIN_ATTRIBUTE. */
export type LoginRecord = {
  /** ISO 8601 time when Varve stored the password. Absent: the password is unchanged since registration or import. */
  readonly changedAt?: string;
  /** SHA-256 of the mailed code for a new password, and the time until which the code is valid. */
  readonly reset?: { readonly hash: string; readonly until: string };
  /** SHA-256 of the code that confirms the address. */
  readonly confirmation?: string;
  /** Sign-ins that can be refreshed, oldest first. */
  readonly sessions?: readonly LoginSession[];
};

export type LoginSession = {
  readonly id: string;
  readonly device?: string;
  /** ISO 8601 time when the session ends at the latest. */
  readonly until: string;
  /** Number of the newest refresh token. Only this token is valid. */
  readonly turn: number;
};

/** A private attribute of users that no Strapi schema has. */
export const LOGIN_ATTRIBUTE = 'varveLogin';

/** Returns the login data of a user's row; empty if nothing about it has changed. */
export function loginRecordOf(values: EntryValues): LoginRecord {
  return (values[LOGIN_ATTRIBUTE] ?? {}) as LoginRecord;
}

/** Returns the login data after a change of the password. All sessions and the code for a new password end. */
export function afterPasswordChange({ confirmation }: LoginRecord, at: string): LoginRecord {
  return { changedAt: at, ...defined({ confirmation }) };
}
