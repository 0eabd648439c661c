import type { ErrorEnvelope } from './error-envelope.ts';

/** Path of Algolia's protocol. */
export const INSTANT_SEARCH_PREFIX = '/1';

/** Returns whether a request target is one of Algolia's protocol. */
export function isInstantSearchTarget(target: string | undefined): boolean {
  return target?.startsWith(`${INSTANT_SEARCH_PREFIX}/`) === true;
}

/** Returns the body of an error in the form that clients of the target read. */
export function errorBodyFor(target: string | undefined, envelope: ErrorEnvelope): string {
  return JSON.stringify(isInstantSearchTarget(target) ? algoliaError(envelope) : envelope);
}

/** The only form of an error that Algolia's clients read. */
type AlgoliaError = { readonly message: string; readonly status: number };

const MAX_ACCEPTED = 2_000;

/** Returns an error as one sentence for each problem, with the accepted values. */
export function algoliaError({ error: { status, message, details = {} } }: ErrorEnvelope): AlgoliaError {
  const problems = (details['problems'] as readonly Problem[] | undefined) ?? [{ message, ...details }];
  return { message: problems.map(sentenceOf).join('. '), status };
}

type Problem = { readonly message: string; readonly accepted?: unknown };

function sentenceOf({ message, accepted }: Problem): string {
  if (accepted === undefined) return message;
  const names = Array.isArray(accepted) ? accepted.join(', ') : String(accepted);
  const shown = names.length > MAX_ACCEPTED ? `${names.slice(0, MAX_ACCEPTED)}…` : names;
  return `${message}. Expected ${shown}`;
}
