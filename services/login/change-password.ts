import {
  afterPasswordChange,
  LOGIN_ATTRIBUTE,
  type LoginRecord,
  loginRecordOf,
} from '../../shared/access/login-record.ts';
import type { EntryValues } from '../../shared/document/events.ts';
import { RequestError } from '../../shared/request-error.ts';
import { hashPassword, isPassword } from '../command/password-hashes.ts';
import { answerSignedIn, changeAccount, deviceOf } from './answer-signed-in.ts';
import { isCode, userOfCode } from './codes.ts';
import { readForm } from './login-forms.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { type Person, passwordAt } from './people.ts';
import { beginSession } from './sessions.ts';
import type { SignedIn } from './signed-in.ts';

/** Handles `POST /api/auth/change-password`. */
export async function changePassword(
  options: LoginOptions,
  body: unknown,
  who: SignedIn | undefined,
): Promise<LoginAnswer> {
  const person = who?.user === undefined ? undefined : options.people.byId(who.user.id);
  if (person === undefined)
    throw new RequestError('not-applicable', 'You must be authenticated to reset your password');
  const { currentPassword, password } = readForm('change', body);
  if (!(await isPassword(currentPassword, person.password)))
    throw new RequestError('invalid-body', 'The provided current password is invalid');
  if (currentPassword === password) {
    const message = 'Your new password must be different than your current password';
    throw new RequestError('invalid-body', message);
  }
  return storePassword(options, person, { body, password, via: 'change-password' }, (values) => {
    // A concurrent change was stored first, and stays.
    if (values['password'] !== person.password)
      throw new RequestError('invalid-body', 'The provided current password is invalid');
  });
}

/** Handles `POST /api/auth/reset-password`. */
export async function resetPassword(options: LoginOptions, body: unknown): Promise<LoginAnswer> {
  const { code, password } = readForm('reset', body);
  const person = options.people.byId(userOfCode(code) ?? 0);
  const refuseCode = ({ reset }: LoginRecord, email: unknown): void => {
    if (isCode(code, email, reset?.hash) && Date.parse(String(reset?.until)) > options.now()) return;
    throw new RequestError('invalid-body', 'Incorrect code provided');
  };
  refuseCode(person?.record ?? {}, person?.email);
  if (person === undefined) throw new Error('a code without a user was accepted');
  return storePassword(options, person, { body, password, via: 'reset-password' }, (values) =>
    // A code is valid only once.
    refuseCode(loginRecordOf(values), values['email']),
  );
}

type NewPassword = { readonly body: unknown; readonly password: string; readonly via: string };

async function storePassword(
  options: LoginOptions,
  person: Person,
  { body, password, via }: NewPassword,
  check: (values: EntryValues) => void,
): Promise<LoginAnswer> {
  const { jwts, scheme, now } = options;
  const hash = await hashPassword(password, scheme);
  let record: LoginRecord = {};
  let session: string | undefined;
  const { position } = await changeAccount(options, person, via, (values) => {
    check(values);
    const before = loginRecordOf(values);
    // The new time is later than that of every valid JWT, so all of them become invalid.
    const at = Math.max(now(), (passwordAt(before) ?? 0) + 1);
    record = afterPasswordChange(before, new Date(at).toISOString());
    if (jwts.management === 'refresh') {
      const begun = beginSession(record, now(), deviceOf(body));
      ({ record } = begun);
      session = begun.session.id;
    }
    return { password: hash, [LOGIN_ATTRIBUTE]: record };
  });
  return answerSignedIn(options, { id: person.id, record }, { session, position });
}
