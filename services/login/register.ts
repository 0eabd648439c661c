import { rolesOf } from '../../shared/access/login-state.ts';
import { isRecord } from '../../shared/json-record.ts';
import { RequestError } from '../../shared/request-error.ts';
import { hashPassword } from '../command/password-hashes.ts';
import { answerSignedIn, beginSignIn } from './answer-signed-in.ts';
import { readForm } from './login-forms.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { mailConfirmation } from './mailed-codes.ts';

const FIELDS = ['username', 'password', 'email'];

/** Handles `POST /api/auth/local/register`. */
export async function registerUser(options: LoginOptions, body: unknown): Promise<LoginAnswer> {
  const { access, people, commands } = options;
  const { switches, ...state } = access().login;
  if (!switches.allow_register)
    throw new RequestError('not-applicable', 'Register action is currently disabled', {
      accepted: 'registrations while the switch allow_register is true: PUT /_varve/login changes it',
    });
  const sent = isRecord(body) ? body : {};
  const allowed = [...FIELDS, ...options.registerFields];
  const unknown = Object.keys(sent).filter((name) => !allowed.includes(name));
  if (unknown.length > 0) throw new RequestError('invalid-body', `Invalid parameters: ${unknown.join(', ')}`);
  const { username, password, email: written } = readForm('registration', body);
  const email = written.toLowerCase();
  const role = [...rolesOf({ switches, ...state }).values()].find(
    ({ type }) => type === switches.default_role,
  );
  if (role === undefined) throw new RequestError('not-applicable', 'Impossible to find the default role');
  const confirmed = !switches.email_confirmation;
  const hash = await hashPassword(password, options.scheme);
  const data = { ...sent, username, email, password, provider: 'local', confirmed, role: role.id };
  const { documentId, position, applied } = await commands.execute({
    kind: 'register-user',
    data,
    hash,
    record: {},
  });
  const person = people.byEmail(email);
  if (!applied || person?.documentId !== documentId)
    return { status: 202, body: { data: { documentId } }, position };
  if (!confirmed) {
    await mailConfirmation(options, person).catch((error: unknown) => {
      options.mailFailed(error);
      throw new RequestError('not-applicable', 'Error sending confirmation email');
    });
    return { status: 200, body: { user: await options.present(person.id) }, position };
  }
  return answerSignedIn(options, person, { position, ...(await beginSignIn(options, person, body)) });
}
