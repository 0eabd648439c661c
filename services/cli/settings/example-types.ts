import { join } from 'node:path';
import { packageRoot } from '../../../shared/package-root.ts';

/** Options from commander: `--examples` without content types means the restaurant guide that comes with Varve. */
export function withExampleTypes(
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { examples, contentTypes } = given;
  const wanted = examples !== undefined && !['false', '0'].includes(String(examples));
  if (contentTypes !== undefined || !wanted) return given;
  return { ...given, contentTypes: join(packageRoot(import.meta.url), 'examples/restaurants') };
}
