import type { Logger } from 'pino';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { problemLine } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** The content types of a folder; their definitions name the default locale (`en` where none is given). Throws one error that lists every problem of every file. */
export function readContentTypes(
  folder: string,
  logger: Pick<Logger, 'warn'>,
  defaultLocale?: string,
): { readonly registry: SchemaRegistry; readonly definitions: readonly TypeDefinition[] } {
  const loaded = loadContentTypes(folder, defaultLocale);
  if (loaded.kind === 'problems') {
    const lines = loaded.problems.map((problem) => `  ${problemLine(problem)}`);
    throw new Error(`the content types in ${folder} cannot be used\n${lines.join('\n')}`);
  }
  for (const file of loaded.ignored) logger.warn({ file }, 'Varve does not read extensions of plugins');
  return loaded;
}
