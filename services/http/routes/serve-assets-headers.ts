const YEAR_SECONDS = 31_536_000;

const CACHED_FOR_GOOD = `public, max-age=${YEAR_SECONDS}, immutable`;
const ASKED_EACH_TIME = 'public, max-age=0, must-revalidate';

const COMMON = {
  'accept-ranges': 'bytes',
  // Browsers must not guess another type than the detected one.
  'x-content-type-options': 'nosniff',
} as const;

/** Policy for content that a browser could show as a page: no scripts, no forms, and an origin of its own. */
const SANDBOXED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** Formats without scripts, and formats with a viewer that a sandbox would block. */
const VIEWED = /^(image\/(?!svg)|video\/|audio\/|application\/pdf$)/;
const TEXT = /^(text\/|image\/svg|application\/(json|geo\+json|xml|yaml|x-subrip)$)/;

/**
 * Returns the content type of a file, and the headers that make the file harmless. `content-disposition` has no name yet. Browsers show
 * only viewable formats and plain text, and download others. `isKept`: the URL may mean other bytes later.
 */
export function assetHeaders(mime: string, isKept: boolean) {
  const viewed = VIEWED.test(mime);
  const inline = viewed || mime === 'text/plain';
  return {
    ...COMMON,
    'cache-control': isKept ? ASKED_EACH_TIME : CACHED_FOR_GOOD,
    'content-type': TEXT.test(mime) ? `${mime}; charset=utf-8` : mime,
    'content-disposition': inline ? 'inline' : 'attachment',
    ...(viewed ? {} : { 'content-security-policy': SANDBOXED }),
  };
}
