import { defined } from '../../shared/defined.ts';
import { RequestError } from '../../shared/request-error.ts';

/** A problem of a body. `path` as in messages: `awards[0].title`; empty for the body as a whole. */
export type BodyProblem = {
  readonly path: string;
  readonly message: string;
  /** Omitted if there is no value. */
  readonly value?: unknown;
};

export const INVALID_RELATIONS = 'Invalid relations';

/**
 * Creates a 400 in Strapi's form. Its message is that of the only problem, or says how many there are. `details.errors` lists all problems
 * in the order of `attributes`, and those of the body as a whole last (SEMANTICS section 13).
 */
export function problemsError(
  problems: readonly BodyProblem[],
  attributes: readonly string[] = [],
): RequestError {
  const place = new Map(attributes.map((name, index) => [name, index]));
  const rank = ({ path }: BodyProblem) => place.get(pathSegments(path)[0] ?? '') ?? attributes.length;
  const sorted = problems.toSorted((a, b) => rank(a) - rank(b));
  const [first] = sorted;
  const message =
    first !== undefined && sorted.length === 1 ? first.message : `${sorted.length} errors occurred`;
  return new RequestError('invalid-body', message, { errors: sorted.map(errorDetail) });
}

function errorDetail({ path, message, value }: BodyProblem) {
  return {
    path: pathSegments(path),
    message,
    name: 'ValidationError',
    // JSON has no NaN and no infinities: they become null, as in Strapi's answers.
    ...defined({ value }),
  };
}

/** `awards[0].title` → `['awards', '0', 'title']`. */
function pathSegments(path: string): string[] {
  return path.split(/[.[\]]+/).filter((segment) => segment !== '');
}

/** Creates a 400 with its own message and no details. */
export function validationError(
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): RequestError {
  return new RequestError('invalid-body', message, details);
}

/** Creates a 404 in Strapi's form. */
export function notFoundError(): RequestError {
  return new RequestError('not-found', 'Not Found');
}
