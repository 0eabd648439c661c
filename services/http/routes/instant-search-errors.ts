import type { FastifyReply, FastifyRequest } from 'fastify';
import { algoliaError, isInstantSearchTarget } from '../answers/algolia-error.ts';
import type { ErrorEnvelope } from '../answers/error-envelope.ts';
import { sendJson } from '../answers/send-json.ts';

/** Returns whether a request is in Algolia's protocol, also one that reaches no route. */
export function isInstantSearch({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return isInstantSearchTarget(raw.url);
}

/** Sends an error in the form of Algolia's protocol. 503 carries `retry-after: 1`. */
export function sendAlgoliaError(reply: FastifyReply, envelope: ErrorEnvelope): void {
  const { status } = envelope.error;
  if (status === 503) reply.header('retry-after', '1');
  sendJson(reply, status, algoliaError(envelope));
}
