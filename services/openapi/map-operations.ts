import type { ApiOperation, Paths } from './openapi-types.ts';

/** Returns the paths with each operation mapped; `method`: `get`, `post`, … */
export function mapOperations(
  paths: Paths,
  change: (operation: ApiOperation, method: string) => ApiOperation,
): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => [method, change(operation, method)]),
      ),
    ]),
  );
}
