import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

/** Returns the version of this package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(import.meta.url), 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
