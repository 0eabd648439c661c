import type { FormProblem } from './form-problems.ts';
import { RequestError } from './request-error.ts';

/** Returns the 400 for a request about tokens, roles, webhooks, releases or erasures, with all of its problems. */
export function refusedForm(
  problems: readonly FormProblem[],
  code:
    | 'invalid-token-request'
    | 'invalid-webhook'
    | 'invalid-release'
    | 'invalid-body' = 'invalid-token-request',
): RequestError {
  const [first] = problems;
  const message =
    problems.length === 1 ? `${first?.path} ${first?.message}` : `${problems.length} errors occurred`;
  return new RequestError(code, message.trim(), { errors: problems });
}
