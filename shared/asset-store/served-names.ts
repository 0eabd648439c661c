/** Where content is served. */
export const UPLOADS_PATH = '/uploads/';

/** The name of a file that is served here; undefined for one at another provider. */
export function servedName(url: unknown): string | undefined {
  return typeof url === 'string' && url.startsWith(UPLOADS_PATH) ? url.slice(UPLOADS_PATH.length) : undefined;
}

/** A name that content had elsewhere, as the asset store knows it. */
export function nameInSpace(space: string, name: string): string {
  return `${space}/${name}`;
}
