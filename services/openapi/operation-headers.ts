import { headerParameter, TEXT_SCHEMA, withParameters } from './document-parts.ts';
import type { ApiOperation, Paths } from './openapi-types.ts';
import { refusals } from './responses.ts';

const IF_NONE_MATCH = headerParameter(
  'If-None-Match',
  'The `ETag` of an answer that the caller has. If nothing changed, the answer is a 304.',
);
const ETAG = { ETag: { description: 'Digest of the answer, for `If-None-Match`.', schema: TEXT_SCHEMA } };

const IDEMPOTENCY_KEY = headerParameter(
  'Idempotency-Key',
  'Identifies this write for a day. If it is sent again, for example after a broken connection, any process answers it again, and it is carried out once. Use a UUID.',
  { type: 'string', pattern: '^[\\x21-\\x7E]{1,255}$' },
);

const MIN_POSITION = headerParameter(
  'Varve-Min-Position',
  'The `Varve-Position` of a write. The answer of any process shows everything that was stored up to it. A process that does not show it in time answers 503. A position that the log has not reached is a 400.',
  { type: 'string', pattern: '^\\d{1,20}$' },
);
const POSITION = {
  'Varve-Position': {
    description: 'Position of the write in the log, for `Varve-Min-Position`.',
    schema: TEXT_SCHEMA,
  },
};

/** Adds to the paths the headers with which a caller caches answers. */
export function withEntityTags(paths: Paths): Paths {
  return mapOperations(paths, (operation, isRead) => {
    if (!isRead) return operation;
    const responses = { ...answersWith(operation, '200', ETAG), 304: { ...UNCHANGED, headers: ETAG } };
    return { ...withParameters(operation, IF_NONE_MATCH), responses };
  });
}

const UNCHANGED = { description: 'The caller has the answer.' };

/** Adds to the paths the header that makes repeated writes safe. */
export function withIdempotencyKey(paths: Paths): Paths {
  return mapOperations(paths, (operation, isRead) => {
    if (isRead) return operation;
    const responses = { ...operation.responses, ...refusals(['OtherRequest']) };
    return { ...withParameters(operation, IDEMPOTENCY_KEY), responses };
  });
}

/** Adds to the paths the headers with which a read waits for a write. */
export function withPositionHeaders(paths: Paths): Paths {
  return mapOperations(paths, (operation, isRead) =>
    isRead
      ? withParameters(operation, MIN_POSITION)
      : { ...operation, responses: answersWith(operation, '2', POSITION) },
  );
}

function mapOperations(
  paths: Paths,
  change: (operation: ApiOperation, isRead: boolean) => ApiOperation,
): Paths {
  const mapped = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, one]) => [method, change(one, method === 'get')]);
    return [path, Object.fromEntries(operations)];
  });
  return Object.fromEntries(mapped);
}

/** Adds headers to the answers whose status begins with `status`. */
function answersWith(
  { responses }: ApiOperation,
  status: string,
  headers: object,
): ApiOperation['responses'] {
  const mapped = Object.entries(responses).map(([key, response]) => [
    key,
    key.startsWith(status) ? { ...response, headers } : response,
  ]);
  return Object.fromEntries(mapped);
}
