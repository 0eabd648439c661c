import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, backoffMs, jittered } from '../../shared/backoff.ts';
import { valueOfJson } from '../../shared/json.ts';
import { retryAfterMs } from '../../shared/retry-after.ts';
import { SourceRefused, SourceUnavailable } from './source.ts';

export type StrapiHttpOptions = {
  /** Address of Strapi: an origin, with a path if Strapi is served below one. */
  readonly url: string;
  /** Path of its API, such as `/api`. */
  readonly prefix: string;
  /** API token; without one, requests have the rights of Strapi's role Public. */
  readonly token: string | undefined;
  /** Time limit of a call, from its start to the last byte of JSON. */
  readonly timeoutMs?: number;
  /** Time limit between two parts of a file. */
  readonly idleMs?: number;
  /** Largest size of an answer in bytes. */
  readonly maxBytes?: number;
  readonly maxFileBytes?: number;
  /** Attempts of a call that fails for a temporary reason. */
  readonly attempts?: number;
  readonly backoff?: Backoff;
};

/** HTTP client of one Strapi. It refuses redirects, so no other host gets a request. */
export type StrapiHttp = ReturnType<typeof createStrapiHttp>;

const DEFAULTS = {
  timeoutMs: 30_000,
  idleMs: 30_000,
  maxBytes: 64 * 1024 * 1024,
  maxFileBytes: 2 * 1024 * 1024 * 1024,
  attempts: 4,
  backoff: { firstMs: 250, longestMs: 5_000 },
} as const;

/** Temporary errors: too many requests, and a proxy's answers while Strapi starts. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Creates the client. It repeats a call that fails for a temporary reason. Its errors are those of the port `Source`. */
export function createStrapiHttp(given: StrapiHttpOptions) {
  const options = { ...DEFAULTS, ...given };
  const base = options.url.replace(/\/+$/, '');
  const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  let requests = 0;
  const ask = async (path: string, signal: AbortSignal): Promise<Response> => {
    requests++;
    // Varve builds the path, or the path begins with /uploads/: it cannot name another host.
    const response = await fetch(`${base}${path}`, { headers, signal, redirect: 'manual' }).catch(
      unreachable,
    );
    if (response.ok) return response;
    const found = await readAnswer(response, 64 * 1024).catch(() => '');
    if (PASSING.has(response.status)) throw new Passing(response, messageOf(String(found)));
    const { status } = response;
    const pathname = path.split('?')[0];
    const isRedirect = status >= 300 && status < 400;
    throw new SourceRefused(
      status,
      isRedirect
        ? `Strapi redirects ${pathname}, and Varve does not follow redirects`
        : `${pathname}: ${status} ${messageOf(String(found))}`,
    );
  };
  const repeat = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof SourceRefused || failures >= options.attempts) throw unavailable(error);
        const waited = error instanceof Passing ? error.waitMs : undefined;
        await delay(waited ?? jittered(backoffMs(failures, options.backoff)), undefined, { ref: false });
      }
    }
  };
  return {
    requests: () => requests,
    /** Returns the parsed JSON of a path below the API's prefix; undefined for 404. */
    json: (path: string): Promise<unknown> =>
      repeat(async () => {
        const signal = AbortSignal.timeout(options.timeoutMs);
        const response = await ask(`${options.prefix}${path}`, signal).catch(absent);
        if (response === undefined) return undefined;
        return parse(path, await readAnswer(response, options.maxBytes));
      }),
    /** Reads the bytes at a path of the same origin. */
    async *bytes(path: string): AsyncGenerator<Buffer> {
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(), options.idleMs);
      try {
        const response = await repeat(() => ask(path, abort.signal));
        let size = 0;
        for await (const part of response.body ?? []) {
          timer.refresh();
          size += part.length;
          if (size > options.maxFileBytes)
            throw new SourceRefused(200, `${path} is longer than ${options.maxFileBytes} bytes`);
          yield Buffer.from(part as Uint8Array);
        }
      } catch (error) {
        throw unavailable(error);
      } finally {
        clearTimeout(timer);
        abort.abort();
      }
    },
  };
}

/** Error for a temporary failure. */
class Passing extends Error {
  readonly waitMs: number | undefined;

  constructor({ status, headers }: Response, message: string) {
    super(`Strapi answers ${status} ${message}`);
    this.waitMs = waitBeforeRetry(headers.get('retry-after') ?? undefined, Date.now());
  }
}

/** Returns the wait that an answer asks for, at most a minute; undefined if it asks for none. */
export function waitBeforeRetry(header: string | undefined, now: number): number | undefined {
  const asked = retryAfterMs(header, now);
  return asked && Math.min(asked, LONGEST_RETRY_AFTER_MS);
}

function unreachable(error: unknown): never {
  const { cause, message } = error as Error & { readonly cause?: Error };
  throw new Error(`Strapi does not answer: ${cause?.message ?? message}`, { cause: error });
}

function unavailable(error: unknown): Error {
  if (error instanceof SourceRefused || error instanceof SourceUnavailable) return error;
  return new SourceUnavailable((error as Error).message, { cause: error });
}

function absent(error: unknown): undefined {
  if (error instanceof SourceRefused && error.status === 404) return undefined;
  throw error;
}

/** Reads the whole body of an answer. Throws SourceRefused if it is longer than `maxBytes`. */
export async function readAnswer(response: Response, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new SourceRefused(200, `Strapi's answer is longer than ${maxBytes} bytes`);
    parts.push(part as Uint8Array);
  }
  return Buffer.concat(parts);
}

function parse(path: string, body: Buffer): unknown {
  const value = valueOfJson(new TextDecoder().decode(body));
  if (value !== undefined) return value;
  throw new SourceRefused(200, `${path.split('?')[0]}: Strapi's answer is not JSON`);
}

/** Returns the message in Strapi's error envelope. */
function messageOf(text: string): string {
  const { error } = (valueOfJson(text) ?? {}) as { readonly error?: { readonly message?: unknown } };
  return String(error?.message ?? '').slice(0, 200);
}
