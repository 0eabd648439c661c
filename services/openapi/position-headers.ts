import { mapOperations } from './map-operations.ts';
import type { ApiOperation, Parameter, Paths } from './openapi-types.ts';

const MIN_POSITION: Parameter = {
  name: 'Varve-Min-Position',
  in: 'header',
  description:
    'The `Varve-Position` of a write. The answer of any process shows everything that was stored up to it. A process that does not show it in time answers 503. A position that the log has not reached is a 400.',
  schema: { type: 'string', pattern: '^\\d{1,20}$' },
};

const POSITION = {
  description: 'Position of the write in the log, for `Varve-Min-Position`.',
  schema: { type: 'string' },
};

/** The paths with the headers by which a read waits for a write. */
export function withPositionHeaders(paths: Paths): Paths {
  return mapOperations(paths, (operation, method) =>
    method === 'get' ? withMinPosition(operation) : withPosition(operation),
  );
}

function withMinPosition(operation: ApiOperation): ApiOperation {
  return { ...operation, parameters: [...(operation.parameters ?? []), MIN_POSITION] };
}

function withPosition(operation: ApiOperation): ApiOperation {
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    status.startsWith('2') ? { ...response, headers: { 'Varve-Position': POSITION } } : response,
  ]);
  return { ...operation, responses: Object.fromEntries(responses) };
}
