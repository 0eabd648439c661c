import { defined } from '../../../shared/defined.ts';
import { type ErrorCode, RequestError } from '../../../shared/request-error.ts';
import { errorStatus } from './error-statuses.ts';

/** Strapi's envelope of all errors (SEMANTICS section 12). A 500 has no `details`. */
export type ErrorEnvelope = {
  readonly data: null;
  readonly error: {
    readonly status: number;
    readonly name: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
    /** Absent for errors that Strapi has too (docs/errors.md). */
    readonly code?: ErrorCode;
  };
};

/** Converts an error of a request to its answer: a RequestError or a refusal by fastify as it says, anything else to a bare 500. */
export function presentError(error: unknown): ErrorEnvelope {
  const refusal = error instanceof RequestError ? error : refusalOfFastify(error);
  if (refusal === undefined) return envelope(500, 'InternalServerError', 'Internal Server Error', undefined);
  const { code, message, details } = refusal;
  const { status, name, isOwn } = errorStatus(code);
  const { error: body } = envelope(status, name, message, details);
  return { data: null, error: isOwn ? { ...body, code } : body };
}

/** Returns fastify's own error about the client's request with a code of ours; undefined for other errors. */
function refusalOfFastify(error: unknown): RequestError | undefined {
  const { statusCode, code, message } = (error ?? {}) as {
    statusCode?: number;
    code?: unknown;
    message: string;
  };
  if (typeof code !== 'string' || !code.startsWith('FST_') || statusCode === undefined || statusCode >= 500)
    return undefined;
  if (statusCode === 413) return new RequestError('payload-too-large', 'Payload Too Large');
  return new RequestError(statusCode === 415 ? 'media-type-not-allowed' : 'malformed-request', message);
}

function envelope(
  status: number,
  name: string,
  message: string,
  details: Readonly<Record<string, unknown>> | undefined,
): ErrorEnvelope {
  return { data: null, error: { status, name, message, ...defined({ details }) } };
}
