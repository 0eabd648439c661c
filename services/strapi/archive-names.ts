import path from 'node:path';

/** Folders that `strapi export` writes, and the file with the version of Strapi. */
export const PARTS = ['schemas', 'entities', 'assets', 'links', 'configuration'];
export const METADATA = 'metadata.json';

/**
 * Returns the name of a file in the form of `strapi export`; undefined if it belongs to no part. An archive that was packed again may have
 * `./` or a folder above its parts, backslashes on Windows, and files that a Mac adds.
 */
export function archiveName(name: string): string | undefined {
  const names = path.posix.normalize(name.replaceAll('\\', '/')).split('/');
  if (names.some(isOfMac)) return undefined;
  if (isPart(names)) return names.join('/');
  const below = names.slice(1);
  return isPart(below) ? below.join('/') : undefined;
}

function isPart(names: readonly string[]): boolean {
  const [first = ''] = names;
  return PARTS.includes(first) || (names.length === 1 && first === METADATA);
}

/** Returns whether a Mac made a file: attributes of another file, or the state of a window. */
export function isOfMac(name: string): boolean {
  return name.startsWith('._') || name === '.DS_Store' || name === '__MACOSX';
}

/** Returns the part of the archive that a file belongs to, such as `entities` or `assets/uploads`. */
export function archivePartOf(name: string): string {
  return path.posix.dirname(name);
}
