import type { FormProblem } from './form-problems.ts';
import { RequestError } from './request-error.ts';

type FormCode =
  | 'invalid-token-request'
  | 'invalid-webhook'
  | 'invalid-release'
  | 'invalid-synonyms'
  | 'invalid-rules'
  | 'invalid-body';

/** Returns the 400 for a request about tokens, roles, webhooks, releases, erasures, synonyms or rules, with all of its problems. */
export function refusedForm(
  problems: readonly FormProblem[],
  code: FormCode = 'invalid-token-request',
): RequestError {
  const [first] = problems;
  const message =
    problems.length === 1 ? `${first?.path} ${first?.message}` : `${problems.length} errors occurred`;
  return new RequestError(code, message.trim(), { errors: problems });
}
