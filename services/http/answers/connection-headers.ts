import type { IncomingHttpHeaders } from 'node:http';

/** Headers that concern one connection, and not the request or its answer (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Returns the headers to pass on to another connection, without `others`. */
export function endToEndHeaders(
  headers: IncomingHttpHeaders,
  others: readonly string[] = [],
): IncomingHttpHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const left = new Set([...CONNECTION_HEADERS, ...named, ...others]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}
