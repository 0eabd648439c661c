import { loginRecordOf } from '../../shared/access/login-record.ts';
import { isRecord } from '../../shared/json-record.ts';
import { RequestError } from '../../shared/request-error.ts';
import { changeAccount, deviceOf, recordChange } from './answer-signed-in.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { passwordAt } from './people.ts';
import { endSessions, type Refreshed, refreshSession } from './sessions.ts';
import type { SignedIn } from './signed-in.ts';

/** Handles `POST /api/auth/refresh`, which exists only in refresh mode. */
export async function refresh(options: LoginOptions, body: unknown): Promise<LoginAnswer> {
  const { jwts, people, now } = options;
  requireRefreshMode(options);
  const token = isRecord(body) ? body['refreshToken'] : undefined;
  if (typeof token !== 'string' || token === '')
    throw new RequestError('missing-refresh-token', 'Missing refresh token');
  const claims = await jwts.read(token);
  const person = claims?.use === 'refresh' ? people.byId(claims.userId) : undefined;
  if (claims?.session === undefined || person === undefined || person.blocked) throw invalid();
  const { session: id, turn } = claims;
  let refreshed = { kind: 'unknown' } as Refreshed;
  const { position } = await changeAccount(options, person, 'refresh', (values) => {
    const before = loginRecordOf(values);
    refreshed = refreshSession(before, id, turn, now());
    if (refreshed.kind === 'unknown') throw invalid();
    const { record } = refreshed;
    return recordChange(values, () => record);
  });
  if (refreshed.kind !== 'refreshed') throw invalid();
  const next = await jwts.issueRefresh(person.id, id, refreshed.session.turn);
  const jwt = await jwts.issue(person.id, passwordAt(person.record), id);
  return { status: 200, body: { jwt, refreshToken: next }, position };
}

/** Handles `POST /api/auth/logout`, which exists only in refresh mode. Ends the JWT's session, those of a device, or all sessions. */
export async function signOut(
  options: LoginOptions,
  body: unknown,
  who: SignedIn | undefined,
): Promise<LoginAnswer> {
  requireRefreshMode(options);
  if (who?.user === undefined) throw new RequestError('unauthorized', 'Missing authentication');
  const device = deviceOf(body);
  const isAll = isRecord(body) && body['scope'] === 'all';
  const { session } = who.user;
  const { position } = await changeAccount(options, who.user, 'logout', (values) =>
    recordChange(values, (record) =>
      endSessions(
        record,
        (one) => isAll || (device === undefined ? one.id === session : one.device === device),
      ),
    ),
  );
  return { status: 200, body: { ok: true }, position };
}

function requireRefreshMode({ jwts }: LoginOptions): void {
  if (jwts.management !== 'refresh') throw new RequestError('not-found', 'Not Found');
}

function invalid(): RequestError {
  return new RequestError('unauthorized', 'Invalid refresh token');
}
