import { RequestError } from '../../shared/request-error.ts';
import { hashPassword, isPassword, schemeOf } from '../command/password-hashes.ts';
import { answerSignedIn, beginSignIn, changeAccount } from './answer-signed-in.ts';
import { readForm } from './login-forms.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import type { Person } from './people.ts';

/** Handles `POST /api/auth/local`. */
export async function signIn(options: LoginOptions, body: unknown): Promise<LoginAnswer> {
  const { identifier, password } = readForm('credentials', body);
  const { people, access } = options;
  const found = people.byEmail(identifier.toLowerCase()) ?? people.byUsername(identifier);
  const person = found?.provider === 'local' ? found : undefined;
  // A missing user costs the same work, so the time does not reveal whether a user exists.
  const isRight = await isPassword(password, person?.password);
  if (person === undefined || !isRight)
    throw new RequestError('invalid-body', 'Invalid identifier or password');
  if (access().login.switches.email_confirmation && !person.confirmed)
    throw new RequestError('not-applicable', 'Your account email is not confirmed');
  if (person.blocked)
    throw new RequestError('not-applicable', 'Your account has been blocked by an administrator');
  await rehash(options, person, password);
  return answerSignedIn(options, person, await beginSignIn(options, person, body));
}

/** Hashes the password with Argon2 if the operator wants that and the stored hash is another. */
async function rehash(options: LoginOptions, person: Person, password: string): Promise<void> {
  const { scheme } = options;
  if (scheme !== 'argon2' || person.password === undefined || schemeOf(person.password) === scheme) return;
  const hash = await hashPassword(password, scheme);
  await changeAccount(options, person, 'rehash', (values) =>
    // The password may have been changed in the meantime.
    values['password'] === person.password ? { password: hash } : {},
  );
}
