/** Patterns of MIME types: a type (`application/pdf`), all types of one kind (`image/*`), or all types. */
export type AcceptedMedia = readonly string[];

const PATTERN = /^(\*\/\*|[a-z0-9.+-]+\/(\*|[a-z0-9.+-]+))$/;

/** Parses `image/*, application/pdf` into a list; undefined if a part is not a MIME type. */
export function parseAcceptedMedia(text: string): AcceptedMedia | undefined {
  const patterns = text.split(',').map((part) => part.trim().toLowerCase());
  return patterns.every((pattern) => PATTERN.test(pattern)) ? patterns : undefined;
}

/** Returns whether a MIME type has one of the patterns, such as `image/png` or `image/*`. */
export function acceptsMime(accepted: AcceptedMedia, mime: string): boolean {
  const kind = mime.slice(0, mime.indexOf('/'));
  return accepted.some((pattern) => pattern === '*/*' || pattern === mime || pattern === `${kind}/*`);
}
