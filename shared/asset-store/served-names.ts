/** Where content is served. */
export const UPLOADS_PATH = '/uploads/';

/** A name that content had elsewhere, as the asset store knows it. */
export function nameInSpace(space: string, name: string): string {
  return `${space}/${name}`;
}
