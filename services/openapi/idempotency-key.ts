import { mapOperations } from './map-operations.ts';
import type { ApiOperation, Parameter, Paths } from './openapi-types.ts';
import { refusals } from './responses.ts';

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Identifies this write for a day. If it is sent again, for example after a broken connection, any process answers it again, and it is carried out once. Use a UUID.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7E]{1,255}$' },
};

/** The paths with the header that makes it safe to send a write again. */
export function withIdempotencyKey(paths: Paths): Paths {
  return mapOperations(paths, (operation, method) => (method === 'get' ? operation : repeatable(operation)));
}

function repeatable(operation: ApiOperation): ApiOperation {
  return {
    ...operation,
    parameters: [...(operation.parameters ?? []), IDEMPOTENCY_KEY],
    responses: { ...operation.responses, ...refusals(['OtherRequest']) },
  };
}
