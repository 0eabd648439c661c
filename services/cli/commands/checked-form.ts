import type { FormProblem } from '../../../shared/form-problems.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { InvalidSettings } from '../settings/settings.ts';

/** Returns what `check` returns. Throws InvalidSettings with the problems of a refused form. */
export function checkedForm<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const problems = error.details['errors'] as readonly FormProblem[];
    throw new InvalidSettings(...problems.map(({ path, message }) => `${path} ${message}`));
  }
}
