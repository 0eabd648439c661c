import type { ErrorCode, Refusal } from '../../../shared/request-error.ts';

/** HTTP status and name of the answer to an error. */
export type ErrorStatus = {
  readonly status: number;
  /** `error.name` of the envelope, one of Strapi's names. */
  readonly name: string;
  /** Strapi has no such error, so the envelope may carry the code. */
  readonly isOwn: boolean;
};

/** Errors that Strapi has too: their bodies are Strapi's, byte for byte. */
const STRAPI_ERRORS = {
  'invalid-body': [400, 'ValidationError'],
  'invalid-query': [400, 'ValidationError'],
  'invalid-pagination': [400, 'PaginationError'],
  'not-applicable': [400, 'ApplicationError'],
  'invalid-json': [400, 'SyntaxError'],
  unauthorized: [401, 'UnauthorizedError'],
  forbidden: [403, 'ForbiddenError'],
  'not-found': [404, 'NotFoundError'],
  'payload-too-large': [413, 'PayloadTooLargeError'],
  'rate-limited': [429, 'RateLimitError'],
  'missing-refresh-token': [400, 'BadRequestError'],
} as const satisfies Partial<Record<Refusal, readonly [number, string]>>;

/** Refusals that only Varve has. */
const OWN_ERRORS: Readonly<
  Record<Exclude<Refusal, keyof typeof STRAPI_ERRORS>, readonly [status: number, name: string]>
> = {
  'invalid-header': [400, 'ValidationError'],
  'invalid-cursor': [400, 'PaginationError'],
  'page-too-far': [400, 'PaginationError'],
  'query-too-large': [400, 'ValidationError'],
  'query-too-expensive': [400, 'ValidationError'],
  'not-supported': [400, 'ValidationError'],
  'position-unknown': [400, 'ValidationError'],
  'document-contended': [409, 'ConflictError'],
  'document-deleted': [409, 'ConflictError'],
  'idempotency-key-reused': [422, 'UnprocessableEntityError'],
  'write-too-large': [413, 'PayloadTooLargeError'],
  'picture-too-large': [413, 'PayloadTooLargeError'],
  'media-type-not-allowed': [415, 'UnsupportedMediaTypeError'],
  'invalid-token-request': [400, 'ValidationError'],
  'token-name-taken': [400, 'ApplicationError'],
  'token-known': [400, 'ApplicationError'],
  'token-not-found': [404, 'NotFoundError'],
  'rights-contended': [409, 'ConflictError'],
  'invalid-webhook': [400, 'ValidationError'],
  'webhook-name-taken': [400, 'ApplicationError'],
  'webhook-not-found': [404, 'NotFoundError'],
  'invalid-release': [400, 'ValidationError'],
  'invalid-synonyms': [400, 'ValidationError'],
  'invalid-rules': [400, 'ValidationError'],
  'release-not-found': [404, 'NotFoundError'],
  'operation-failed': [409, 'ConflictError'],
  'invalid-sync-token': [400, 'ValidationError'],
  'sync-token-gone': [410, 'GoneError'],
  'too-many-streams': [429, 'RateLimitError'],
  'explain-not-allowed': [403, 'ForbiddenError'],
  'development-mode': [403, 'ForbiddenError'],
  'writes-only': [404, 'NotFoundError'],
  'malformed-request': [400, 'BadRequestError'],
  'request-aborted': [400, 'BadRequestError'],
  'request-timeout': [408, 'BadRequestError'],
  'method-not-served': [405, 'BadRequestError'],
  'expectation-not-met': [417, 'BadRequestError'],
  'provider-not-served': [501, 'NotImplementedError'],
  'login-not-served': [501, 'NotImplementedError'],
  'project-code': [404, 'NotFoundError'],
  'mail-not-set-up': [501, 'NotImplementedError'],
};

const STATUSES: ReadonlyMap<ErrorCode, ErrorStatus> = new Map([
  ...entries(STRAPI_ERRORS, false),
  ...entries(OWN_ERRORS, true),
]);

/** Every outage is a 503. */
const OUTAGE: ErrorStatus = { status: 503, name: 'ServiceUnavailableError', isOwn: true };

/** Returns the HTTP status and name of an error code. */
export function errorStatus(code: ErrorCode): ErrorStatus {
  return STATUSES.get(code) ?? OUTAGE;
}

function entries(
  table: Readonly<Partial<Record<Refusal, readonly [number, string]>>>,
  isOwn: boolean,
): [ErrorCode, ErrorStatus][] {
  return Object.entries(table).map(([code, [status, name]]) => [code as Refusal, { status, name, isOwn }]);
}
