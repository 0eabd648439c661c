/** MIME types, each whole (`application/pdf`), of one kind (`image/*`) or all. */
export type AcceptedMedia = readonly string[];

const PATTERN = /^(\*\/\*|[a-z0-9.+-]+\/(\*|[a-z0-9.+-]+))$/;

/** `image/*, application/pdf` → the list; undefined when a part is no MIME type. */
export function parseAcceptedMedia(text: string): AcceptedMedia | undefined {
  const patterns = text.split(',').map((part) => part.trim().toLowerCase());
  return patterns.every((pattern) => PATTERN.test(pattern)) ? patterns : undefined;
}

export function acceptsMime(accepted: AcceptedMedia, mime: string): boolean {
  const kind = mime.slice(0, mime.indexOf('/'));
  return accepted.some((pattern) => pattern === '*/*' || pattern === mime || pattern === `${kind}/*`);
}
