import { describe, expect, it } from 'vitest';
import { SESSION_LIFETIME } from '../../../services/login/jwt.ts';
import { beginSession, endSessions, refreshSession } from '../../../services/login/sessions.ts';
import type { LoginRecord } from '../../../shared/access/login-record.ts';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');

function begun(count: number, now = NOW): LoginRecord {
  let record: LoginRecord = {};
  for (let n = 0; n < count; n++) ({ record } = beginSession(record, now, `device ${n}`));
  return record;
}
const devices = ({ sessions = [] }: LoginRecord) => sessions.map(({ device }) => device);

it('a user has at most 20 sessions: the oldest ones end', () => {
  expect(devices(begun(20))).toHaveLength(20);
  const all = devices(begun(25));
  expect([all.length, all[0], all.at(-1)]).toEqual([20, 'device 5', 'device 24']);
});

it('a session ends after 30 days, also if it is refreshed', () => {
  const { record, session } = beginSession({}, NOW, undefined);
  const last = NOW + SESSION_LIFETIME * 1_000 - 1;
  expect(refreshSession(record, session.id, 0, last).kind).toBe('refreshed');
  expect(refreshSession(record, session.id, 0, last + 1).kind).toBe('unknown');
  expect(devices(beginSession(begun(3), last + 1, 'new').record)).toEqual(['new']);
});

describe('a refresh token', () => {
  const { record, session } = beginSession({}, NOW, undefined);
  const taken = (from: LoginRecord, turn: number) => {
    const refreshed = refreshSession(from, session.id, turn, NOW);
    return refreshed.kind === 'unknown' ? {} : refreshed.record;
  };

  it('returns the next token, and is not accepted again. The session continues', () => {
    const next = taken(record, 0);
    expect(next.sessions?.[0]?.turn).toBe(1);
    expect(refreshSession(next, session.id, 0, NOW)).toEqual({ kind: 'unknown' });
    expect(refreshSession(next, session.id, 1, NOW).kind).toBe('refreshed');
  });

  it.each([0, 3, 99])('of turn %i ends the session at turn 2, since another client may have it', (turn) => {
    const second = taken(taken(record, 0), 1);
    expect(refreshSession(second, session.id, turn, NOW)).toMatchObject({ kind: 'stolen' });
    expect(taken(second, turn).sessions).toEqual([]);
  });

  it('of another session is refused', () => {
    expect(refreshSession(record, 'other', 0, NOW)).toEqual({ kind: 'unknown' });
  });
});

it('ends the named sessions', () => {
  const record = begun(3);
  expect(devices(endSessions(record, ({ device }) => device === 'device 1'))).toEqual([
    'device 0',
    'device 2',
  ]);
});
