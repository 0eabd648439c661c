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

/** Refusals of fastify itself, by its error code, in Strapi's words. */
const FASTIFY_ERRORS: Readonly<Record<string, { readonly name: string; readonly message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { name: 'PayloadTooLargeError', message: 'Payload Too Large' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { name: 'UnsupportedMediaTypeError', message: 'Unsupported Media Type' },
};

/** Converts an error of a request to its answer: a RequestError or a refusal by fastify as it says, anything else to a bare 500. */
export function presentError(error: unknown): ErrorEnvelope {
  if (error instanceof RequestError) {
    const { status, name, isOwn } = errorStatus(error.code);
    const { error: body } = envelope(status, name, error.message, error.details);
    return { data: null, error: isOwn ? { ...body, code: error.code } : body };
  }
  const status = clientErrorStatus(error);
  if (status === undefined) return envelope(500, 'InternalServerError', 'Internal Server Error', undefined);
  const known = FASTIFY_ERRORS[(error as { code?: string }).code ?? ''];
  return envelope(status, known?.name ?? 'BadRequestError', known?.message ?? (error as Error).message, {});
}

/** Returns the status of fastify's own error about the client's request; undefined for other errors. */
function clientErrorStatus(error: unknown): number | undefined {
  const { statusCode, code } = error as { statusCode?: unknown; code?: unknown };
  const refusedByFastify = typeof code === 'string' && code.startsWith('FST_');
  return refusedByFastify && typeof statusCode === 'number' && statusCode < 500 ? statusCode : undefined;
}

function envelope(
  status: number,
  name: string,
  message: string,
  details: Readonly<Record<string, unknown>> | undefined,
): ErrorEnvelope {
  return { data: null, error: { status, name, message, ...defined({ details }) } };
}
