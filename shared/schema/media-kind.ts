/** What a media attribute's `allowedTypes` sorts files into, as Strapi's media library does. */
export const MEDIA_KINDS = ['images', 'videos', 'audios', 'files'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** The kind of a MIME type: `files` is everything that is no picture, film or sound. */
export function mediaKindOf(mime: string): MediaKind {
  if (mime.startsWith('image/')) return 'images';
  if (mime.startsWith('video/')) return 'videos';
  return mime.startsWith('audio/') ? 'audios' : 'files';
}

/** Whether a media attribute may hold a file of this MIME type. No list, or an empty one, allows every kind. */
export function allowsMedia(allowedTypes: readonly string[], mime: string): boolean {
  return allowedTypes.length === 0 || allowedTypes.includes(mediaKindOf(mime));
}
