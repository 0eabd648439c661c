/** Headers for data. With these no browser uses a body as a page, a script or a frame. */
export const SECURITY_HEADERS = Object.freeze({
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});

export const JSON_HEADERS = Object.freeze({
  ...SECURITY_HEADERS,
  'content-type': 'application/json; charset=utf-8',
});

/** Header of a 503 to another process that forwarded a write here. That process looks for the leader again. */
export const NOT_LEADING_HEADER = 'varve-not-leading';

/** Body of a 405: plain text, without an envelope (SEMANTICS section 12). */
export const METHOD_NOT_ALLOWED = 'Method Not Allowed';
