import type { Entry } from '../../../shared/document/entry.ts';

/** Where content is served. */
export const UPLOADS_PATH = '/uploads/';

/** A name that content had elsewhere, as the asset store knows it. */
export function nameInSpace(space: string, name: string): string {
  return `${space}/${name}`;
}

/** Names of an imported file: its own, and those of the smaller pictures made of it. */
export function keptNames(space: string, { values }: Entry): readonly string[] {
  const formats = Object.values((values['formats'] ?? {}) as { readonly [format: string]: unknown });
  return [values, ...formats].flatMap((picture) => {
    const url = (picture as { readonly url?: unknown } | null)?.url;
    return typeof url === 'string' && url.startsWith(UPLOADS_PATH)
      ? [nameInSpace(space, url.slice(UPLOADS_PATH.length))]
      : [];
  });
}
