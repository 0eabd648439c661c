import { randomUUID } from 'node:crypto';
import type { LoginRecord, LoginSession } from '../../shared/access/login-record.ts';
import { defined } from '../../shared/defined.ts';
import { SESSION_LIFETIME } from './jwt.ts';

/** Maximum number of sessions of one user: sign-ins in Strapi's refresh mode. A new session ends the oldest one. */
const MOST = 20;

/** Returns the new session and the record with it. `now` is in milliseconds. */
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
  /** The token is older than the one before the newest: somebody may have stolen it, so the session ends. */
  | { readonly kind: 'stolen'; readonly record: LoginRecord }
  | { readonly kind: 'unknown' };

/**
 * Checks a session's refresh token. Only the newest token is accepted, as in Strapi. The one before it ends nothing: two requests of one
 * client may have sent it at the same time. Pure.
 */
export function refreshSession(record: LoginRecord, id: string, turn: number, now: number): Refreshed {
  const open = openSessions(record, now);
  const session = open.find((one) => one.id === id);
  if (session === undefined || turn === session.turn - 1) return { kind: 'unknown' };
  if (turn !== session.turn)
    return { kind: 'stolen', record: endSessions({ ...record, sessions: open }, (one) => one === session) };
  const next = { ...session, turn: turn + 1 };
  const sessions = open.map((one) => (one.id === id ? next : one));
  return { kind: 'refreshed', record: { ...record, sessions }, session: next };
}

/** Returns the record without the sessions that end. */
export function endSessions(record: LoginRecord, ends: (session: LoginSession) => boolean): LoginRecord {
  return { ...record, sessions: (record.sessions ?? []).filter((session) => !ends(session)) };
}
