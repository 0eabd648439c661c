import { createHash } from 'node:crypto';
import { SECURITY_HEADERS } from '../answers/responses.ts';

const NOTHING_ELSE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function pageHeaders(scripts: string, styles: string) {
  return {
    ...SECURITY_HEADERS,
    'content-security-policy': `default-src 'none'; script-src ${scripts}; style-src ${styles}; img-src 'self' data:; connect-src 'self'; ${NOTHING_ELSE}`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  };
}

/** Headers of a page: all its parts come from this server, nothing is inline, and it sends requests to no other host. */
export const PAGE_HEADERS = pageHeaders("'self'", "'self'");

/** Returns the same headers for a page in one file: only its own script and style are allowed. */
export function wholePageHeaders(script: string, style: string) {
  return pageHeaders(sourceOf(script), sourceOf(style));
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
