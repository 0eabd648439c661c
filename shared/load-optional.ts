import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

type Manifest = { readonly optionalDependencies: Readonly<Record<string, string>> };

/** Loads code that needs optional dependencies. If they are missing, rejects with a message that says which packages to install. */
export async function loadOptional<Loaded>(what: string, load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    const command = installCommand(error as NodeJS.ErrnoException);
    if (command === undefined) throw error;
    throw new Error(`${what} needs packages that are not installed: ${command}`, { cause: error });
  }
}

/**
 * Returns the command that installs the missing package and the others of its scope, in the tested versions. undefined: no optional
 * dependency is missing.
 */
function installCommand({ code, message }: NodeJS.ErrnoException): string | undefined {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  if (code !== 'ERR_MODULE_NOT_FOUND' || missing === undefined) return undefined;
  const text = readFileSync(join(packageRoot(import.meta.url), 'package.json'), 'utf8');
  const { optionalDependencies } = JSON.parse(text) as Manifest;
  const scope = missing.split('/')[0];
  const packages = Object.entries(optionalDependencies).filter(([name]) => name.split('/')[0] === scope);
  if (packages.length === 0) return undefined;
  return `npm install ${packages.map(([name, version]) => `${name}@${version}`).join(' ')}`;
}
