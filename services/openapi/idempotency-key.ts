import { mapOperations } from './map-operations.ts';
import type { ApiOperation, Parameter, Paths } from './openapi-types.ts';
import { refusals } from './responses.ts';

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Names this write, for a day: the same write sent again, after a broken connection for example, is carried out once and answered again by any process. Use a UUID.',
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
