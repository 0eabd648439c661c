import { defined } from '../../shared/defined.ts';
import { type ErrorCode, RequestError } from '../../shared/request-error.ts';

/**
 * A reason why a query is refused. Stages add to one list, so that an answer names everything that is wrong. The answer has the message of
 * the first problem in the order of `PHASES`, which is Strapi's. `own` is for values that Strapi accepts, or fails on.
 */
export type QueryProblem = {
  readonly phase: keyof typeof PHASES;
  /** Strapi reads the names of a parameter several times, each time for another reason. Default: `unknown`. */
  readonly pass?: keyof typeof PASSES;
  /**
   * Number of names that the pass reads before this one. Strapi reads the members of a list in parallel, so each member counts from 0.
   * Default: 0.
   */
  readonly step?: number;
  /** Default: `invalid-query`. */
  readonly code?: ErrorCode;
  readonly message: string;
  /** The root parameter. */
  readonly param: string;
  /** Strapi's `details.key` and `details.path`, for names that are not accepted. */
  readonly key?: string;
  readonly path?: string | null;
  /** The whole key in the query string, if it is known. */
  readonly at?: string;
  readonly found: unknown;
  readonly accepted: unknown;
  /** Further members of Strapi's `details`. */
  readonly extra?: Readonly<Record<string, unknown>>;
};

export type Problems = QueryProblem[];

/**
 * Problems that an answer lists. The list is limited, because each problem may name all attributes, and one request can have thousands of
 * problems.
 */
const MOST_LISTED = 100;

const PHASES = {
  publication: 0,
  key: 1,
  pages: 2,
  parameter: 3,
  form: 4,
  value: 5,
  count: 6,
  own: 7,
} as const;
const PASSES = { unknown: 0, zone: 1, hidden: 2, empty: 3 } as const;

/** Sorts the problems of one parameter as Strapi finds them: by pass, then by step. They are the problems from index `first` on. */
export function sortByPass(
  problems: Problems,
  first: number,
  stepOf: (problem: QueryProblem) => number = ({ step = 0 }) => step,
): void {
  if (problems.length - first < 2) return;
  const rank = ({ pass = 'unknown' }: QueryProblem) => PASSES[pass];
  const added = problems.splice(first);
  problems.push(...added.toSorted((a, b) => rank(a) - rank(b) || stepOf(a) - stepOf(b)));
}

/** Returns Strapi's refusal of a name. `path` is its attribute path: null for a name unknown at the root. */
export function invalidKey(key: string, path: string | null, param: string, accepted: unknown): QueryProblem {
  const where = path === null || path === '' || path === key ? '' : ` at ${path}`;
  return {
    phase: 'key',
    message: `Invalid key ${key}${where}`,
    param,
    key,
    path: path === '' ? null : path,
    found: key,
    accepted,
  };
}

/** Returns Strapi's refusal of a value. `at`: the part of the parameter with the value. `expected`: `accepted` in words. */
export function invalidValue(
  param: string,
  found: unknown,
  accepted: unknown,
  { at, expected = String(accepted) }: { readonly at?: string; readonly expected?: string } = {},
): QueryProblem {
  const message = `Invalid parameter at '${at ?? param}'. Expected ${expected}`;
  return { phase: 'parameter', message, param, ...defined({ at }), found, accepted };
}

/** Refuses every parameter whose name is not accepted, whatever its value. With `ignore` it is ignored. */
export function refuseOtherNames(
  query: object,
  accepted: readonly string[],
  problems: Problems,
  ignore = (name: string): unknown => problems.push(invalidKey(name, null, name, accepted)),
): void {
  for (const name of Object.keys(query)) if (!accepted.includes(name)) ignore(name);
}

/** Returns whether Strapi finds a problem before it reads the body, and before it looks for the entry of a single type. */
export function isFoundFirst({ phase }: QueryProblem): boolean {
  return PHASES[phase] <= PHASES.key;
}

/**
 * Throws the 400 for the problems found, if there are any. `moreProblems` counts those that are not listed. `checkBody` throws first if
 * Strapi finds none of them before it reads the body.
 */
export function refuseIfAny(problems: Problems, checkBody?: () => void): void {
  if (problems.length === 0) return;
  const ordered = problems.toSorted((a, b) => PHASES[a.phase] - PHASES[b.phase]);
  const first = ordered[0] as QueryProblem;
  if (!isFoundFirst(first)) checkBody?.();
  throw new RequestError(first.code ?? 'invalid-query', first.message, {
    ...describe(first),
    problems: ordered
      .slice(0, MOST_LISTED)
      .map((problem) => ({ message: problem.message, ...describe(problem) })),
    ...defined({ moreProblems: ordered.length > MOST_LISTED ? ordered.length - MOST_LISTED : undefined }),
  });
}

function describe(problem: QueryProblem): Readonly<Record<string, unknown>> {
  return {
    ...(problem.key === undefined
      ? { param: problem.param, source: 'query' }
      : { key: problem.key, path: problem.path ?? null, source: 'query', param: problem.param }),
    ...problem.extra,
    ...defined({ at: problem.at }),
    found: problem.found,
    accepted: problem.accepted,
  };
}
