import * as z from 'zod';
import { isRecord } from '../../shared/json-record.ts';
import { typeMessage } from '../command/describe-value.ts';
import { longPasswordProblem } from '../command/password-rules.ts';
import { type BodyProblem, problemsError } from '../command/problem.ts';

/** Readers of the bodies of login requests. Their errors have Strapi's wording. */

type Fields = Readonly<Record<string, string>>;

/** Reads the required texts of a form, in the order in which Strapi reports problems. Throws RequestError (400). */
function readForm<Name extends string>(
  body: unknown,
  names: readonly Name[],
  ...checks: readonly ((fields: Fields) => BodyProblem | undefined)[]
): Readonly<Record<Name, string>> {
  const given = isRecord(body) ? body : {};
  const problems = names.flatMap((name) => textProblem(name, given[name]));
  const texts = Object.fromEntries(
    names.flatMap((name) => (typeof given[name] === 'string' ? [[name, given[name]]] : [])),
  ) as Fields;
  const isNamed = new Set(problems.map(({ path }) => path));
  const others = checks.flatMap((check) => {
    const problem = check(texts);
    return problem === undefined || isNamed.has(problem.path) ? [] : [problem];
  });
  if (problems.length + others.length > 0) throw problemsError([...problems, ...others], names);
  return texts as Record<Name, string>;
}

function textProblem(name: string, value: unknown): BodyProblem[] {
  if (value === undefined) return [{ path: name, message: `${name} is a required field` }];
  if (typeof value !== 'string')
    return [{ path: name, message: typeMessage(name, 'string', value, value), value }];
  return value === '' ? [{ path: name, message: `${name} is a required field`, value }] : [];
}

function addressProblem({ email }: Fields): BodyProblem | undefined {
  if (email === undefined || z.regexes.rfc5322Email.test(email)) return undefined;
  return { path: 'email', message: 'email must be a valid email', value: email };
}

function passwordProblem({ password }: Fields): BodyProblem | undefined {
  return password === undefined ? undefined : longPasswordProblem(password);
}

function confirmationProblem({ password, passwordConfirmation }: Fields): BodyProblem | undefined {
  if (passwordConfirmation === password) return undefined;
  return { path: 'passwordConfirmation', message: 'Passwords do not match', value: passwordConfirmation };
}

/** Reads the form of a sign-in. Every reader here throws RequestError (400) with all problems, worded as Strapi's. */
export function readCredentials(body: unknown) {
  return readForm(body, ['identifier', 'password']);
}

/** Reads the form of a registration. */
export function readRegistration(body: unknown) {
  return readForm(body, ['email', 'username', 'password'], addressProblem, passwordProblem);
}

/** Reads a form with an e-mail address alone. */
export function readAddress(body: unknown) {
  return readForm(body, ['email'], addressProblem);
}

/** Reads the form that sets a new password with a code. */
export function readReset(body: unknown) {
  const names = ['passwordConfirmation', 'password', 'code'] as const;
  return readForm(body, names, passwordProblem, confirmationProblem);
}

/** Reads the form that sets a new password with the current one. */
export function readChange(body: unknown) {
  const names = ['passwordConfirmation', 'password', 'currentPassword'] as const;
  return readForm(body, names, passwordProblem, confirmationProblem);
}

/** Reads the query of a link that confirms an address. */
export function readConfirmation(query: unknown) {
  return readForm(query, ['confirmation']);
}
