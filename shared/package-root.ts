import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the folder of this package's package.json, for a module at `url`. The module may be in a checkout, or in dist/ of an installed
 * package.
 */
export function packageRoot(url: string): string {
  const path = findPackageJSON(url);
  if (path === undefined) throw new Error(`there is no package.json above ${url}`);
  return dirname(path);
}
