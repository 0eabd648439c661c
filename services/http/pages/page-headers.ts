import { SECURITY_HEADERS } from '../answers/responses.ts';

const NOTHING_ELSE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of a page: all its parts come from this server, nothing is inline, and it sends requests to no other host. */
export const PAGE_HEADERS = Object.freeze({
  ...SECURITY_HEADERS,
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; ${NOTHING_ELSE}`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
});
