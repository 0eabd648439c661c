import { defined } from '../defined.ts';
import type { EntryValues } from '../document/events.ts';

/** The part of a user's login that is not the password's hash: the value of LOGIN_ATTRIBUTE. */
export type LoginRecord = {
  /** ISO 8601: when Varve stored the password. Absent: it is as it was registered or imported. */
  readonly changedAt?: string;
  /** SHA-256 of the code that was mailed, and until when it counts. */
  readonly reset?: { readonly hash: string; readonly until: string };
  /** SHA-256 of the code that confirms the address. */
  readonly confirmation?: string;
  /** Sign-ins that can be refreshed, oldest first. */
  readonly sessions?: readonly LoginSession[];
};

export type LoginSession = {
  readonly id: string;
  readonly device?: string;
  /** ISO 8601: when it ends at the latest. */
  readonly until: string;
  /** The refresh token that came last counts. */
  readonly turn: number;
};

/** A private attribute of users that no schema of Strapi's has. */
export const LOGIN_ATTRIBUTE = 'varveLogin';

/** Returns the login of a user's row; empty for a user that never changed anything about it. */
export function loginRecordOf(values: EntryValues): LoginRecord {
  return (values[LOGIN_ATTRIBUTE] ?? {}) as LoginRecord;
}

/** The record once the password has changed: what was signed in before is signed out, and mailed codes are void. */
export function afterPasswordChange({ confirmation }: LoginRecord, at: string): LoginRecord {
  return { changedAt: at, ...defined({ confirmation }) };
}
