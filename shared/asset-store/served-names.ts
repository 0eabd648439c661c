/** Path under which content is served. */
export const UPLOADS_PATH = '/uploads/';

/** Returns the name of a file that is served here; undefined for a file at another provider. */
export function servedName(url: unknown): string | undefined {
  return typeof url === 'string' && url.startsWith(UPLOADS_PATH) ? url.slice(UPLOADS_PATH.length) : undefined;
}

/** Returns the key under which the asset store knows a name that content had in another system. */
export function nameInSpace(space: string, name: string): string {
  return `${space}/${name}`;
}
