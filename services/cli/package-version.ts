import { readFileSync } from 'node:fs';

/** The version of this package, from the package.json two folders up (in a checkout and when installed). */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
