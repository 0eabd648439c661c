import type * as z from 'zod';

/** Reason why a form is refused: the path of a member, and what is wrong with it. */
export type FormProblem = { readonly path: string; readonly message: string };

/** The value of a form or an HTTP body, or all reasons why it is refused. */
export type Parsed<Value> =
  | { readonly kind: 'parsed'; readonly value: Value }
  | { readonly kind: 'problems'; readonly problems: readonly FormProblem[] };

/** Returns the problems that zod found in a form. */
export function formProblems({ issues }: z.ZodError): readonly FormProblem[] {
  return issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issue.code === 'unrecognized_keys' ? `has no ${issue.keys.join(', ')}` : issue.message,
  }));
}
