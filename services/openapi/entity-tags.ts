import { mapOperations } from './map-operations.ts';
import type { ApiOperation, Parameter, Paths } from './openapi-types.ts';

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an answer that the caller has. If nothing changed, the answer is a 304.',
  schema: { type: 'string' },
};

const ETAG = {
  description: 'Digest of the answer, for `If-None-Match`.',
  schema: { type: 'string' },
};

const UNCHANGED: object = { description: 'The caller has the answer.', headers: { ETag: ETAG } };

/** The paths with the headers by which a caller keeps answers. */
export function withEntityTags(paths: Paths): Paths {
  return mapOperations(paths, (operation, method) =>
    method === 'get' ? withEntityTag(operation) : operation,
  );
}

function withEntityTag(operation: ApiOperation): ApiOperation {
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    status === '200' ? { ...response, headers: { ETag: ETAG } } : response,
  ]);
  return {
    ...operation,
    parameters: [...(operation.parameters ?? []), IF_NONE_MATCH],
    responses: Object.fromEntries([...responses, ['304', UNCHANGED]]),
  };
}
