import type { IncomingHttpHeaders } from 'node:http';
import { RequestError } from '../../shared/request-error.ts';
import { readAnswer } from './strapi-http.ts';

export type ProxiedRequest = {
  readonly method: string;
  /** Path and query below the API's prefix, beginning with a slash. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array> | undefined;
  readonly clientAddress: string;
  readonly protocol: string;
};

export type ProxiedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
};

export type StrapiProxyOptions = {
  readonly url: string;
  readonly prefix: string;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
};

/** Forwards requests to one Strapi with the headers of their callers, and without rights of this server. */
export type StrapiProxy = (request: ProxiedRequest) => Promise<ProxiedAnswer>;

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * Request headers that are forwarded to Strapi. Those about the connection are missing: a caller could claim another address, and evade
 * Strapi's limits.
 */
const SENT = [
  ...['authorization', 'content-type', 'accept', 'accept-language', 'cookie', 'origin', 'user-agent'],
  'strapi-response-format',
];
/** Response headers that are returned to the caller. */
const ANSWERED = ['content-type', 'location', 'retry-after', 'allow'];

/** Creates the proxy. Rejects with `strapi-unavailable` if an answer is late or too large. It never repeats a request. */
export function createStrapiProxy(options: StrapiProxyOptions): StrapiProxy {
  const base = options.url.replace(/\/+$/, '');
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  return async ({ method, path, headers, body, clientAddress, protocol }) => {
    const url = URL.parse(`${base}${options.prefix}${path}`);
    if (url === null || hasDots(path)) throw new RequestError('not-found', 'Not Found');
    const sent = new Headers({ 'x-forwarded-for': clientAddress, 'x-forwarded-proto': protocol });
    for (const name of SENT) {
      const value = headers[name];
      if (typeof value === 'string') sent.set(name, value);
    }
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: sent,
      redirect: 'manual',
      duplex: 'half',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: body as unknown as NonNullable<RequestInit['body']> }),
    };
    try {
      const response = await fetch(url, init);
      return {
        status: response.status,
        headers: answered(response),
        body: await readAnswer(response, maxBytes),
      };
    } catch (error) {
      if (error instanceof RequestError) throw error;
      const { cause } = error as { readonly cause?: unknown };
      if (cause instanceof RequestError) throw cause;
      throw new RequestError(
        'strapi-unavailable',
        'The followed Strapi does not answer: writes are not possible for now',
      );
    }
  };
}

/** A server may decode a path more than once, if proxies are in front of it. */
const MOST_DECODINGS = 5;

/**
 * Returns whether some server could read a path as one outside of the API: a segment of dots, also in an encoded form or with
 * parameters (`..%2f`, `..;a`).
 */
function hasDots(path: string): boolean {
  let text = path.split('?')[0] ?? '';
  for (let times = 0; times < MOST_DECODINGS; times++) {
    if (text.split(/[/\\;]/).some((segment) => /^\.{1,2}\s*$/.test(segment))) return true;
    const decoded = decodedOnce(text);
    if (decoded === text) return false;
    if (decoded === undefined) return true;
    text = decoded;
  }
  return true;
}

function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function answered({ headers }: Response): ProxiedAnswer['headers'] {
  const kept: Record<string, string | string[]> = {};
  for (const name of ANSWERED) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  const cookies = headers.getSetCookie();
  return cookies.length === 0 ? kept : { ...kept, 'set-cookie': cookies };
}
