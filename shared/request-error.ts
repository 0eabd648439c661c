/**
 * Reasons why a request is refused. docs/errors.md describes each code; services/http/answers/error-statuses.ts gives it an HTTP status. A
 * code is never renamed, because clients and log queries compare it.
 */
export const REFUSALS = [
  'invalid-body',
  'invalid-query',
  'invalid-pagination',
  'not-applicable',
  'invalid-json',
  'unauthorized',
  'forbidden',
  'not-found',
  'payload-too-large',
  'rate-limited',
  'missing-refresh-token',
  'invalid-header',
  'invalid-cursor',
  'page-too-far',
  'query-too-large',
  'query-too-expensive',
  'not-supported',
  'position-unknown',
  'document-contended',
  'document-deleted',
  'idempotency-key-reused',
  'write-too-large',
  'picture-too-large',
  'media-type-not-allowed',
  'invalid-token-request',
  'token-name-taken',
  'token-known',
  'token-not-found',
  'rights-contended',
  'invalid-webhook',
  'webhook-name-taken',
  'webhook-not-found',
  'invalid-release',
  'invalid-synonyms',
  'invalid-rules',
  'release-not-found',
  'operation-failed',
  'invalid-sync-token',
  'sync-token-gone',
  'too-many-streams',
  'explain-not-allowed',
  'development-mode',
  'writes-only',
  'malformed-request',
  'request-aborted',
  'request-timeout',
  'method-not-served',
  'expectation-not-met',
  'provider-not-served',
  'login-not-served',
  'project-code',
  'mail-not-set-up',
] as const;

/** Reasons why a request cannot be answered for now. The same request may succeed later. */
export const OUTAGES = [
  'starting',
  'busy',
  'client-gone',
  'position-not-shown',
  'past-opening',
  'no-leader',
  'leader-changing',
  'leader-lost',
  'upload-interrupted',
  'process-halted',
  'graph-stopped',
  'disk-full',
  'log-unavailable',
  'outcome-unknown',
  'read-index-unavailable',
  'strapi-unavailable',
  'asset-store-unavailable',
  'assets-of-another-log',
  'keys-unavailable',
] as const;

export type Refusal = (typeof REFUSALS)[number];
export type Outage = (typeof OUTAGES)[number];
export type ErrorCode = Refusal | Outage;

/**
 * Error for a refused request. It is thrown anywhere between HTTP and the ports, and answered as Strapi's envelope
 * `{"data":null,"error":{status,name,message,details}}`. `message` is Strapi's for the first problem. `details` is free-form JSON with the
 * path, the value found and the values accepted.
 */
export class RequestError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

const OUTAGE_CODES: ReadonlySet<ErrorCode> = new Set(OUTAGES);

/** Returns whether an error says that something is unavailable for now, rather than that the request is wrong. */
export function isOutage(error: unknown): boolean {
  return error instanceof RequestError && OUTAGE_CODES.has(error.code);
}
