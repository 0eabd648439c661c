import { LOGIN_ATTRIBUTE, type LoginRecord, loginRecordOf } from '../../shared/access/login-record.ts';
import { defined } from '../../shared/defined.ts';
import type { EntryValues } from '../../shared/document/events.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { CommandResult } from '../command/command.ts';
import { currentAuthor } from '../command/current-author.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { type Person, passwordAt } from './people.ts';
import { beginSession } from './sessions.ts';

/** Changes a user on the user's own behalf: the user is the author of the event. */
export function changeAccount(
  { commands }: LoginOptions,
  { documentId }: Pick<Person, 'documentId'>,
  via: string,
  change: (values: EntryValues) => EntryValues,
): Promise<CommandResult> {
  const author = { ...currentAuthor(), actor: { kind: 'user', id: documentId } } as const;
  return commands.execute({ kind: 'change-account', documentId, via, change, author });
}

/** Returns the values that change a user's login record. */
export function recordChange(values: EntryValues, change: (record: LoginRecord) => LoginRecord): EntryValues {
  return { [LOGIN_ATTRIBUTE]: change(loginRecordOf(values)) };
}

/** Begins and stores a session if the login is in refresh mode. */
export async function beginSignIn(
  options: LoginOptions,
  person: Person,
  body: unknown,
): Promise<{ readonly session?: string; readonly position?: bigint }> {
  if (options.jwts.management !== 'refresh') return {};
  let session = '';
  const { position } = await changeAccount(options, person, 'sign-in', (values) =>
    recordChange(values, (record) => {
      const begun = beginSession(record, options.now(), deviceOf(body));
      session = begun.session.id;
      return begun.record;
    }),
  );
  return { session, position };
}

/** Returns the device that a client names. */
export function deviceOf(body: unknown): string | undefined {
  const device = isRecord(body) ? body['deviceId'] : undefined;
  return typeof device === 'string' && device !== '' ? device.slice(0, 100) : undefined;
}

/** Answers a sign-in with a JWT and the user. In refresh mode the answer also has the refresh token of the session. */
export async function answerSignedIn(
  { jwts, present }: LoginOptions,
  user: Pick<Person, 'id' | 'record'>,
  { session, position }: { readonly session?: string | undefined; readonly position?: bigint | undefined },
): Promise<LoginAnswer> {
  const jwt = await jwts.issue(user.id, passwordAt(user.record), session);
  const refreshToken = session === undefined ? undefined : await jwts.issueRefresh(user.id, session, 0);
  const body = {
    jwt,
    ...defined({ refreshToken }),
    user: await present(user.id),
  };
  return { status: 200, body, ...defined({ position }) };
}
