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
/** Request headers that are forwarded to Strapi. */
const SENT = [
  ...['authorization', 'content-type', 'accept', 'accept-language', 'cookie', 'origin', 'user-agent'],
  ...['strapi-response-format', 'x-forwarded-proto'],
];
/** Response headers that are returned to the caller. */
const ANSWERED = ['content-type', 'location', 'retry-after', 'allow'];

/** Creates the proxy. Rejects with `strapi-unavailable` if an answer is late or too large. It never repeats a request. */
export function createStrapiProxy(options: StrapiProxyOptions): StrapiProxy {
  const base = options.url.replace(/\/+$/, '');
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  return async ({ method, path, headers, body, clientAddress }) => {
    const api = `${base}${options.prefix}/`;
    const url = URL.parse(`${base}${options.prefix}${path}`);
    // Dots in a path can lead out of the API.
    if (url === null || !url.href.startsWith(new URL(api).href))
      throw new RequestError('not-found', 'Not Found');
    const forwarded = [headers['x-forwarded-for'] ?? [], clientAddress].flat();
    const sent = new Headers({ 'x-forwarded-for': forwarded.join(', ') });
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

function answered({ headers }: Response): ProxiedAnswer['headers'] {
  const kept: Record<string, string | string[]> = {};
  for (const name of ANSWERED) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  const cookies = headers.getSetCookie();
  return cookies.length === 0 ? kept : { ...kept, 'set-cookie': cookies };
}
