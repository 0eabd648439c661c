import type { ResolveFnOutput, ResolveHookContext } from 'node:module';

type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

/** Ends of a file's name that TypeScript finds for an import without one, or for the name of the compiled file. */
const ENDS = ['.ts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

/**
 * Resolves imports like TypeScript: `./other` names `./other.ts`, `./other.js` too if there is only `./other.ts`, and a folder names its
 * index. Node's own resolution decides about every candidate, so its permissions apply. JSON needs no import attribute.
 */
export function resolveNeighbour(
  specifier: string,
  context: ResolveHookContext,
  next: NextResolve,
): ResolveFnOutput {
  try {
    return asJson(next(specifier, context), context);
  } catch (error) {
    if (!/^\.{1,2}(\/|$)/.test(specifier)) throw error;
    const stem = specifier.replace(/\.js$|\/$/, '');
    for (const end of ENDS) {
      try {
        return asJson(next(stem + end, context), context);
      } catch {
        // The next candidate may exist. If none does, the first error names the import.
      }
    }
    throw error;
  }
}

function asJson(resolved: ResolveFnOutput, { conditions }: ResolveHookContext): ResolveFnOutput {
  if (!conditions.includes('import') || !resolved.url.endsWith('.json')) return resolved;
  return { ...resolved, format: 'json', importAttributes: { type: 'json' } };
}
