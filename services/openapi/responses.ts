import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import { defined } from '../../shared/defined.ts';
import type { ErrorCode } from '../../shared/request-error.ts';
import { envelopeSchema, objectSchema, schemaRef, TEXT_SCHEMA } from './document-parts.ts';
import type { JsonSchema } from './openapi-types.ts';

/** Strapi's envelope of every refusal (SEMANTICS section 12). */
export const ERROR_SCHEMA = objectSchema(
  {
    data: { type: 'null' },
    error: objectSchema(
      {
        status: { type: 'integer' },
        name: TEXT_SCHEMA,
        message: TEXT_SCHEMA,
        details: {
          type: 'object',
          description:
            'For a refused query: `key`, `path` and `param` of the first problem, what was `found` and what is `accepted`; `problems` lists them all.',
        },
        code: {
          ...TEXT_SCHEMA,
          description: 'Code of an error that Strapi does not have. Codes do not change.',
        },
      },
      ['status', 'name', 'message'],
    ),
  },
  ['data', 'error'],
);

type Refusal = {
  readonly status: number;
  readonly name: string;
  readonly message: string;
  readonly description: string;
  readonly details?: object;
  /** Absent: Strapi has this error too. */
  readonly code?: ErrorCode;
};

const REFUSALS = {
  BadRequest: {
    status: 400,
    name: 'ValidationError',
    message: 'Invalid key nope',
    description: 'The query string or the body has unknown names or invalid values.',
    details: { key: 'nope', path: null, source: 'query', param: 'filters' },
  },
  Unauthorized: {
    status: 401,
    name: 'UnauthorizedError',
    message: UNKNOWN_TOKEN,
    description: 'The access token is unknown, revoked or expired.',
  },
  Forbidden: {
    status: 403,
    name: 'ForbiddenError',
    message: 'Forbidden',
    description: 'The caller has no right to do this.',
  },
  NotFound: {
    status: 404,
    name: 'NotFoundError',
    message: 'Not Found',
    description: 'There is no such entry.',
  },
  Conflict: {
    status: 409,
    name: 'ConflictError',
    message: 'The document is being changed at the same time, try again',
    description: 'Another write changed the document at the same time.',
    code: 'document-contended',
  },
  Gone: {
    status: 410,
    name: 'GoneError',
    message: "The sync token is no longer valid: a content type was changed. Begin again without 'since'",
    description:
      'The rights, a content type or the log changed: the documents that the caller has may be others than it would see now.',
    code: 'sync-token-gone',
  },
  PayloadTooLarge: {
    status: 413,
    name: 'PayloadTooLargeError',
    message: 'Payload Too Large',
    description: 'The body is larger than the server accepts.',
  },
  UnsupportedMediaType: {
    status: 415,
    name: 'UnsupportedMediaTypeError',
    message: 'Unsupported Media Type',
    description: 'The server does not accept bodies of this type.',
    details: { header: 'Content-Type', found: 'text/xml', accepted: ['application/json'] },
    code: 'media-type-not-allowed',
  },
  OtherRequest: {
    status: 422,
    name: 'UnprocessableEntityError',
    message: 'This Idempotency-Key was used with another request: use a new key for every request',
    description: 'The `Idempotency-Key` names another write.',
    details: { header: 'Idempotency-Key' },
    code: 'idempotency-key-reused',
  },
  TooManyRequests: {
    status: 429,
    name: 'RateLimitError',
    message: 'Too many requests, please try again later.',
    description: 'The rate limit is reached. `Retry-After` has the seconds to wait.',
  },
  Unavailable: {
    status: 503,
    name: 'ServiceUnavailableError',
    message: 'The server is starting',
    description:
      'The server is not ready, or does not show `Varve-Min-Position` in time. `Retry-After` has the seconds to wait.',
    code: 'starting',
  },
} as const satisfies Record<string, Refusal>;

type RefusalName = keyof typeof REFUSALS;

/** `components.responses` */
export const REFUSAL_RESPONSES: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries<Refusal>(REFUSALS).map(([key, { description, code, details = {}, ...error }]) => [
    key,
    jsonResponse(description, schemaRef('error'), {
      data: null,
      error: { ...error, details, ...defined({ code }) },
    }),
  ]),
);

const ALWAYS: readonly RefusalName[] = ['Unauthorized', 'Forbidden', 'TooManyRequests', 'Unavailable'];

/** Refusals of a read, by status. */
export function readRefusals(...more: readonly RefusalName[]): Readonly<Record<string, object>> {
  return { ...refusals(['BadRequest', ...more, ...ALWAYS]), 431: HEADERS_TOO_LARGE };
}

/** Node's own answer, without a body: a query string counts as part of the headers. */
export const HEADERS_TOO_LARGE: object = { description: 'The URL and the headers are longer than 16 KiB.' };

/** Refusals of a write. */
export function writeRefusals(...more: readonly RefusalName[]): Readonly<Record<string, object>> {
  return refusals(['BadRequest', ...more, 'Conflict', 'PayloadTooLarge', 'UnsupportedMediaType', ...ALWAYS]);
}

/** Refusals by status. */
export function refusals(names: readonly RefusalName[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    names.map((name) => [String(REFUSALS[name].status), { $ref: `#/components/responses/${name}` }]),
  );
}

/** Response object of OpenAPI with a JSON body. */
export function jsonResponse(description: string, schema: JsonSchema, example?: unknown): object {
  return { description, content: { 'application/json': { schema, ...defined({ example }) } } };
}

/** Answer to a write that is stored, but that reads did not show before the answer was due. */
export const ACCEPTED: object = jsonResponse(
  'The write is stored. Reads do not show it, or not yet: `meta.reason` says why.',
  envelopeSchema(
    objectSchema({ documentId: TEXT_SCHEMA }, ['documentId']),
    objectSchema(
      {
        position: TEXT_SCHEMA,
        reason: objectSchema({ code: TEXT_SCHEMA, message: TEXT_SCHEMA }, ['code', 'message']),
      },
      ['position', 'reason'],
    ),
  ),
  {
    data: { documentId: 'a1b2c3d4e5f6g7h8i9j0k1l2' },
    meta: { position: '42', reason: { code: 'not-shown-yet', message: 'The write is stored. …' } },
  },
);

export const NO_CONTENT: object = { description: 'Removed, or not there.' };
