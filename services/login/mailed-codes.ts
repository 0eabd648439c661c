import { RequestError } from '../../shared/request-error.ts';
import { changeAccount, recordChange } from './answer-signed-in.ts';
import { hashCode, isCode, newCode, userOfCode } from './codes.ts';
import { readForm } from './login-forms.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { fillMail } from './mail-text.ts';
import type { SendMail } from './mailer.ts';
import type { Person } from './people.ts';

/** Lifetime of a code for a new password. */
const RESET_MS = 86_400_000;

/**
 * Handles `POST /api/auth/forgot-password`. The answer is sent before the user is looked up, so neither the answer nor its time reveals
 * whether the user exists.
 */
export async function forgotPassword(options: LoginOptions, body: unknown): Promise<LoginAnswer> {
  mailLater(options, body, (person) => mailReset(options, person));
  return { status: 200, body: { ok: true } };
}

/** Mails the user with a form's address, unless the user is blocked or missing. Returns the address in lower case. */
function mailLater(
  options: LoginOptions,
  body: unknown,
  mail: (person: Person) => Promise<void> | undefined,
): string {
  const email = readForm('address', body).email.toLowerCase();
  requireMail(options);
  options.later(async () => {
    const person = options.people.byEmail(email);
    if (person !== undefined && !person.blocked) await mail(person);
  });
  return email;
}

async function mailReset(options: LoginOptions, person: Person): Promise<void> {
  const code = newCode(person.id);
  const until = new Date(options.now() + RESET_MS).toISOString();
  await changeAccount(options, person, 'forgot-password', (values) =>
    recordChange(values, (record) => ({ ...record, reset: { hash: hashCode(code, person.email), until } })),
  );
  const { switches, mails } = options.access().login;
  const facts = { ...factsOf(options, person), URL: switches.email_reset_password ?? '', TOKEN: code };
  await requireMail(options)(fillMail(mails.resetPassword, person.email, facts));
}

/** Handles `POST /api/auth/send-email-confirmation`. The answer is the same for known and unknown addresses. */
export async function sendConfirmation(options: LoginOptions, body: unknown): Promise<LoginAnswer> {
  const email = mailLater(options, body, (person) =>
    person.confirmed ? undefined : mailConfirmation(options, person),
  );
  return { status: 200, body: { email, sent: true } };
}

/** Stores the hash of a new code and mails the code. Rejects if no mail can be sent. */
export async function mailConfirmation(options: LoginOptions, person: Person): Promise<void> {
  const send = requireMail(options);
  const code = newCode(person.id);
  await changeAccount(options, person, 'send-confirmation', (values) =>
    recordChange(values, (record) => ({ ...record, confirmation: hashCode(code, person.email) })),
  );
  const url = `${options.url()}/api/auth/email-confirmation`;
  const facts = { ...factsOf(options, person), URL: url, CODE: code };
  await send(fillMail(options.access().login.mails.confirmation, person.email, facts));
}

/** Handles `GET /api/auth/email-confirmation?confirmation=<code>`. */
export async function confirmAddress(options: LoginOptions, query: unknown): Promise<LoginAnswer> {
  const { confirmation: code } = readForm('confirmation', query);
  const person = options.people.byId(userOfCode(code) ?? 0);
  if (person === undefined || !isCode(code, person.email, person.record.confirmation)) throw invalid();
  const { position } = await changeAccount(options, person, 'confirm-address', (values) => ({
    ...recordChange(values, ({ confirmation, ...record }) => {
      if (!isCode(code, values['email'], confirmation)) throw invalid();
      return record;
    }),
    confirmed: true,
  }));
  const location = options.access().login.switches.email_confirmation_redirection ?? '/';
  return { status: 302, body: `Redirecting to ${location}.`, location, position };
}

function factsOf(options: LoginOptions, { id, documentId, username, email }: Person) {
  return {
    SERVER_URL: options.url(),
    'USER.id': String(id),
    'USER.documentId': documentId,
    'USER.username': username,
    'USER.email': email,
  };
}

function requireMail({ mail }: LoginOptions): SendMail {
  const send = mail();
  if (send !== undefined) return send;
  throw new RequestError(
    'mail-not-set-up',
    'This server sends no mails: an operator can start it with --mail and --mail-from',
  );
}

function invalid(): RequestError {
  return new RequestError('invalid-body', 'Invalid token');
}
