import { randomUUID } from 'node:crypto';
import type { LoginRecord, LoginSession } from '../../shared/access/login-record.ts';
import { defined } from '../../shared/defined.ts';
import { SESSION_LIFETIME } from './jwt.ts';

/** Sign-ins of a user that can be refreshed, where Strapi's refresh mode is on. All functions are of their arguments. */

/** Sessions of one user; the oldest end first. */
const MOST = 20;

/** The record with a new session, and that. `now` in milliseconds. */
export function beginSession(
  record: LoginRecord,
  now: number,
  device: string | undefined,
): { readonly record: LoginRecord; readonly session: LoginSession } {
  const until = new Date(now + SESSION_LIFETIME * 1000).toISOString();
  const session = { id: randomUUID(), ...defined({ device }), until, turn: 0 };
  const open = openSessions(record, now).slice(1 - MOST);
  return { record: { ...record, sessions: [...open, session] }, session };
}

function openSessions({ sessions = [] }: LoginRecord, now: number): readonly LoginSession[] {
  return sessions.filter(({ until }) => Date.parse(until) > now);
}

export type Refreshed =
  | { readonly kind: 'refreshed'; readonly record: LoginRecord; readonly session: LoginSession }
  /** A token was used that another had replaced long ago: somebody else may have it, so the session is over. */
  | { readonly kind: 'stolen'; readonly record: LoginRecord }
  | { readonly kind: 'unknown' };

/**
 * Takes a session's refresh token. The token before the newest one is answered like the newest: its answer may have been lost on the
 * way.
 */
export function refreshSession(record: LoginRecord, id: string, turn: number, now: number): Refreshed {
  const open = openSessions(record, now);
  const session = open.find((one) => one.id === id);
  if (session === undefined) return { kind: 'unknown' };
  if (turn === session.turn - 1) return { kind: 'refreshed', record, session };
  if (turn !== session.turn)
    return { kind: 'stolen', record: endSessions({ ...record, sessions: open }, (one) => one === session) };
  const next = { ...session, turn: turn + 1 };
  const sessions = open.map((one) => (one.id === id ? next : one));
  return { kind: 'refreshed', record: { ...record, sessions }, session: next };
}

/** The record without the sessions that end. */
export function endSessions(record: LoginRecord, ends: (session: LoginSession) => boolean): LoginRecord {
  return { ...record, sessions: (record.sessions ?? []).filter((session) => !ends(session)) };
}
