/** Kinds of files in a media attribute's `allowedTypes`, as in Strapi's media library. */
export const MEDIA_KINDS = ['images', 'videos', 'audios', 'files'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Returns the kind of a MIME type. `files` is everything except pictures, videos and sounds. */
export function mediaKindOf(mime: string): MediaKind {
  if (mime.startsWith('image/')) return 'images';
  if (mime.startsWith('video/')) return 'videos';
  return mime.startsWith('audio/') ? 'audios' : 'files';
}

/** Returns whether a media attribute may contain a file of this MIME type. An absent or empty list allows every kind. */
export function allowsMedia(allowedTypes: readonly string[], mime: string): boolean {
  return allowedTypes.length === 0 || allowedTypes.includes(mediaKindOf(mime));
}
