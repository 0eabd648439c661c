import { nameInSpace, servedName } from '../../../shared/asset-store/served-names.ts';
import type { Entry } from '../../../shared/document/entry.ts';
import { FORMAT_NAMES, type FormatName, isResized } from './format-sizes.ts';

/** Extensions that detection assigns to the pictures that have formats. */
const EXTENSIONS = ['.jpg', '.png', '.apng', '.webp', '.tif', '.gif'];

/** Returns the name of a smaller picture, like Strapi: the picture's name after a prefix such as `thumbnail_`. */
export function formatName(format: FormatName, name: string): string {
  return `${format}_${name}`;
}

/** Returns the name of the picture from which a smaller one was made; undefined if the name is not that of a format. */
export function pictureName(name: string): string | undefined {
  const format = FORMAT_NAMES.find((one) => name.startsWith(`${one}_`));
  return format && name.slice(format.length + 1);
}

/** All names that formats of a picture may have in the asset store, by the name that its content is served under. */
export function possibleFormatNames(space: string, uploadName: string): readonly string[] {
  return EXTENSIONS.flatMap((ext) =>
    FORMAT_NAMES.map((format) => nameInSpace(space, formatName(format, `${uploadName}${ext}`))),
  );
}

/** Names of a file's formats in the asset store, also of those that an interrupted process made and no event names. */
export function formatNamesOf(space: string, { values }: Entry): readonly string[] {
  const { mime, url } = values;
  const name = servedName(url);
  if (name === undefined || !isResized(String(mime))) return [];
  return FORMAT_NAMES.map((format) => nameInSpace(space, formatName(format, name)));
}
