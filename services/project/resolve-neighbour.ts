import { readFileSync } from 'node:fs';
import type { ResolveFnOutput, ResolveHookContext } from 'node:module';
import { fileURLToPath } from 'node:url';

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
    if (!/^\.{1,2}(\/|$)/.test(specifier)) {
      const absent = stubOf(specifier, context);
      if (absent === undefined) throw error;
      return absent;
    }
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

/**
 * Returns a module in place of a package that is not installed. TypeScript omits an import that names only types, and Node does not. A
 * use of the module fails with the package's name.
 */
function stubOf(
  specifier: string,
  { conditions, parentURL }: ResolveHookContext,
): ResolveFnOutput | undefined {
  const isPackage = /^(@[\w.-]+\/)?[\w.-]+(\/[\w./-]+)?$/.test(specifier);
  if (!isPackage || !conditions.includes('import') || !parentURL?.endsWith('.ts')) return undefined;
  const code = readFileSync(fileURLToPath(parentURL), 'utf8');
  const names = [...code.matchAll(/\bimport\s+(?:[\w$]+\s*,\s*)?\{([^}]*)\}\s*from\s*['"]([^'"]+)['"]/g)]
    .filter(([, , from]) => from === specifier)
    .flatMap(([, list = '']) => list.split(',').map((name) => name.trim().split(/\s/)[0] ?? ''))
    .filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default');
  const fail = `() => { throw new Error(${JSON.stringify(`Cannot find package '${specifier}'`)}); }`;
  const source = [
    `const absent = new Proxy(function () {}, { get: ${fail}, apply: ${fail}, construct: ${fail} });`,
    'export default absent;',
    ...[...new Set(names)].map((name) => `export const ${name} = absent;`),
  ].join('\n');
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true };
}

function asJson(resolved: ResolveFnOutput, { conditions }: ResolveHookContext): ResolveFnOutput {
  if (!conditions.includes('import') || !resolved.url.endsWith('.json')) return resolved;
  return { ...resolved, format: 'json', importAttributes: { type: 'json' } };
}
