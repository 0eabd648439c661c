const YEAR_SECONDS = 31_536_000;

const CACHED_FOR_GOOD = `public, max-age=${YEAR_SECONDS}, immutable`;
const ASKED_EACH_TIME = 'public, max-age=0, must-revalidate';

const COMMON = {
  'accept-ranges': 'bytes',
  // The detected type is final: browsers must not guess.
  'x-content-type-options': 'nosniff',
} as const;

/** No script, no form, no origin: for content that a browser could take for a page. */
const SANDBOXED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** Formats without scripts, or with a viewer of their own that a sandbox would keep shut. */
const VIEWED = /^(image\/(?!svg)|video\/|audio\/|application\/pdf$)/;
const TEXT = /^(text\/|image\/svg|application\/(json|geo\+json|xml|yaml|x-subrip)$)/;

/**
 * Content type, and the headers that make it harmless; `content-disposition` without a name yet. `isKept`: the URL may mean other bytes
 * later. Only viewable formats and plain text open in place.
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
