import type { FastifyRequest } from 'fastify';
import { defined } from '../../../shared/defined.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { type ErrorEnvelope, presentError } from './error-envelope.ts';

const ABORTED = new RequestError('request-aborted', 'The client disconnected before its request had arrived');

/** Converts an error of a request to its answer, and logs errors that the client did not cause. */
export function reportError(error: unknown, request: FastifyRequest): ErrorEnvelope {
  const body = presentError(isAborted(request) ? ABORTED : error);
  if (body.error.status >= 500) {
    const { method, url, id: requestId } = request;
    const known = error instanceof RequestError ? error : undefined;
    const facts = { status: body.error.status, ...defined({ code: known?.code }), method, url, requestId };
    // A dependency that is not available for a while is not a bug of the program.
    if (known?.cause === undefined && known !== undefined) request.log.warn(facts, known.message);
    else request.log.error({ err: error, ...facts });
  }
  return body;
}

/** Returns whether the client disconnected before its request had arrived. Such a failure is not an error of the server. */
function isAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}
