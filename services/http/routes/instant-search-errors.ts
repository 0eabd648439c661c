import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorEnvelope } from '../answers/error-envelope.ts';
import { JSON_HEADERS } from '../answers/responses.ts';

/** Path of Algolia's protocol. */
export const INSTANT_SEARCH_PREFIX = '/1';

/** Returns whether a request is in Algolia's protocol, also one that reaches no route. */
export function isInstantSearch({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return raw.url?.startsWith(`${INSTANT_SEARCH_PREFIX}/`) === true;
}

/** Sends an error in the form of Algolia's protocol. 503 carries `retry-after: 1`. */
export function sendAlgoliaError(reply: FastifyReply, envelope: ErrorEnvelope): void {
  const { status } = envelope.error;
  if (status === 503) reply.header('retry-after', '1');
  reply
    .code(status)
    .headers(JSON_HEADERS)
    .send(JSON.stringify(algoliaError(envelope)));
}

/** The only form of an error that Algolia's clients read. */
type AlgoliaError = { readonly message: string; readonly status: number };

const MAX_ACCEPTED = 2_000;

/** An error as one sentence: what is wrong, and what is accepted. */
function algoliaError({ error: { status, message, details = {} } }: ErrorEnvelope): AlgoliaError {
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
