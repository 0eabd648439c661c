import type * as z from 'zod';
import { type FormProblem, formProblems } from './form-problems.ts';
import { RequestError } from './request-error.ts';

type FormCode =
  | 'invalid-token-request'
  | 'invalid-webhook'
  | 'invalid-release'
  | 'invalid-synonyms'
  | 'invalid-rules'
  | 'invalid-query'
  | 'invalid-body';

/** Returns the 400 for a request about tokens, roles, webhooks, releases, erasures, synonyms, rules or searches, with all of its problems. */
export function refusedForm(
  problems: readonly FormProblem[],
  code: FormCode = 'invalid-token-request',
): RequestError {
  const [first] = problems;
  const message =
    problems.length === 1 ? `${first?.path} ${first?.message}` : `${problems.length} errors occurred`;
  return new RequestError(code, message.trim(), { errors: problems });
}

/** Returns the 400 for the `data` of a request that zod refused, with all of its problems. */
export function refusedData(error: z.ZodError, code: FormCode): RequestError {
  const problems = formProblems(error).map(({ path, message }) => ({ path: path || 'data', message }));
  return refusedForm(problems, code);
}
