import type { FormProblem } from '../../shared/form-problems.ts';
import { refusedForm } from '../../shared/refused-form.ts';
import { RequestError } from '../../shared/request-error.ts';

/** Returns the 400 for a request about releases, with all of its problems. */
export function refusedRelease(problems: readonly FormProblem[]): RequestError {
  return refusedForm(problems, 'invalid-release');
}

/** Reason why a log on an older server refuses a release of several entries. */
export const ONE_ENTRY =
  'A release can have only one entry here, because the server of the event log is older than KurrentDB 26.1, the first that stores several documents together';

/** Returns the 404 for a release or an action that does not exist. */
export function noRelease(what: string, id: string): RequestError {
  return new RequestError('release-not-found', `There is no ${what} ${id}`);
}
