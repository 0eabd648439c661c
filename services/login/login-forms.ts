import { isRecord } from '../../shared/json-record.ts';
import { typeMessage } from '../command/describe-value.ts';
import { longPasswordProblem } from '../command/password-rules.ts';
import { type BodyProblem, problemsError } from '../command/problem.ts';
import { isMailAddress } from '../command/scalar-values.ts';

type Fields = Readonly<Record<string, string>>;
type Check = (fields: Fields) => BodyProblem | undefined;
type Form = { readonly names: readonly string[]; readonly checks: readonly Check[] };

/**
 * Reads the required texts of a form. Throws RequestError (400) with all problems, in Strapi's words, and in the order in which Strapi
 * reports them.
 */
export function readForm<Name extends keyof typeof FORMS>(
  form: Name,
  body: unknown,
): Readonly<Record<(typeof FORMS)[Name]['names'][number], string>> {
  const { names, checks }: Form = FORMS[form];
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
  return texts;
}

function textProblem(name: string, value: unknown): BodyProblem[] {
  if (value === undefined) return [{ path: name, message: `${name} is a required field` }];
  if (typeof value !== 'string')
    return [{ path: name, message: typeMessage(name, 'string', value, value), value }];
  return value === '' ? [{ path: name, message: `${name} is a required field`, value }] : [];
}

function addressProblem({ email }: Fields): BodyProblem | undefined {
  if (email === undefined || isMailAddress(email)) return undefined;
  return { path: 'email', message: 'email must be a valid email', value: email };
}

function passwordProblem({ password }: Fields): BodyProblem | undefined {
  return password === undefined ? undefined : longPasswordProblem(password);
}

function confirmationProblem({ password, passwordConfirmation }: Fields): BodyProblem | undefined {
  if (passwordConfirmation === password) return undefined;
  return { path: 'passwordConfirmation', message: 'Passwords do not match', value: passwordConfirmation };
}

/** Bodies and queries of login requests: the texts that they need, and what else is checked. */
const FORMS = {
  credentials: { names: ['identifier', 'password'], checks: [] },
  registration: { names: ['email', 'username', 'password'], checks: [addressProblem, passwordProblem] },
  address: { names: ['email'], checks: [addressProblem] },
  reset: {
    names: ['passwordConfirmation', 'password', 'code'],
    checks: [passwordProblem, confirmationProblem],
  },
  change: {
    names: ['passwordConfirmation', 'password', 'currentPassword'],
    checks: [passwordProblem, confirmationProblem],
  },
  confirmation: { names: ['confirmation'], checks: [] },
} as const satisfies Readonly<Record<string, Form>>;
