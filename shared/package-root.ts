import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** The folder of this package's package.json, for a module at `url`: a checkout's, or where it is installed (there in dist/). */
export function packageRoot(url: string): string {
  const path = findPackageJSON(url);
  if (path === undefined) throw new Error(`there is no package.json above ${url}`);
  return dirname(path);
}
