import { signal } from '@preact/signals';

/** A request as people write it: a method, a path with its query string, and a body: JSON or a form. */
export type Request = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly form?: FormData;
  /** `low`: the browser sends other requests first. */
  readonly priority?: RequestPriority;
};

export type Reply = {
  readonly status: number;
  readonly ok: boolean;
  /** Parsed JSON; undefined if the body is none. */
  readonly json: unknown;
  readonly text: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Milliseconds until the whole body was there. */
  readonly ms: number;
  readonly bytes: number;
};

const KEY = 'varve-token';

/** Token of this tab. It is never sent to another origin, and not kept longer than the tab. */
export const token = signal<string | null>(sessionStorage.getItem(KEY));

/** `lost`: the last request got no answer. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');

/** Token that the server did not know in the last request: it has expired, or was revoked. */
export const refusedToken = signal<string | null>(null);

/** The moment that the last answer about the past shows. `of`: the value of `asOf`. `at`: time of the last event. */
export const moment = signal<{
  readonly of: string;
  readonly position: string;
  readonly at: string | undefined;
} | null>(null);

/** Keeps the token for this tab; null forgets it. */
export function keepToken(value: string | null): void {
  if (value === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, value);
  token.value = value;
}

/** Returns the path. Throws if it leads to another origin, as `//host/` does. */
export function ownPath(path: string): string {
  if (new URL(path, location.href).origin === location.origin) return path;
  throw new Error(`${path} leads to another server`);
}

/** Milliseconds between two requests for content of the past that is being opened. */
const OPENING_MS = 1_000;

/**
 * Sends a request to this server with the token of the tab. Rejects if the server does not answer. A read of the past is repeated until the
 * server has opened that past.
 */
export async function send(request: Request, signal?: AbortSignal): Promise<Reply> {
  for (;;) {
    const reply = await sendOnce(request, signal);
    if (!isOpening(reply)) return reply;
    await new Promise((resolve) => setTimeout(resolve, OPENING_MS));
    signal?.throwIfAborted();
  }
}

function isOpening({ status, json }: Reply): boolean {
  const { error } = (json ?? {}) as { readonly error?: { readonly code?: string } };
  return status === 503 && error?.code === 'past-opening';
}

async function sendOnce(
  { method, path, body, form, priority }: Request,
  signal?: AbortSignal,
): Promise<Reply> {
  const url = ownPath(path);
  const secret = token.value;
  const started = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: form ?? (body === undefined ? null : JSON.stringify(body)),
      signal: signal ?? null,
      cache: 'no-store',
      redirect: 'error',
      priority: priority ?? 'auto',
    });
    const text = await response.text();
    connection.value = 'live';
    if (response.status === 401) refusedToken.value = secret;
    const [, past] = /[?&]asOf=([^&]*)/.exec(path) ?? [];
    if (response.ok && past !== undefined) keepMoment(decodeURIComponent(past), response.headers);
    return {
      status: response.status,
      ok: response.ok,
      json: parsed(text),
      text,
      headers: [...response.headers],
      ms: performance.now() - started,
      bytes: new Blob([text]).size,
    };
  } catch (error) {
    if (signal?.aborted !== true) connection.value = 'lost';
    throw error;
  }
}

function keepMoment(of: string, headers: Headers): void {
  const position = headers.get('varve-position');
  if (position !== null) moment.value = { of, position, at: headers.get('memento-datetime') ?? undefined };
}

/** Reads `data` and `meta` of an answer. Rejects with the message of an error. */
export async function read<Data>(
  path: string,
  signal?: AbortSignal,
  priority: RequestPriority = 'auto',
): Promise<{ data: Data; meta: Meta }> {
  const answer = await send({ method: 'GET', path, priority }, signal);
  if (!answer.ok) throw new Error(messageOf(answer));
  return answer.json as { data: Data; meta: Meta };
}

export type Meta = {
  readonly pagination?: { readonly total?: number; readonly page?: number; readonly pageCount?: number };
  readonly before?: string | null;
  readonly thresholdMs?: number;
  readonly keptDays?: number;
  readonly searches?: number;
  readonly from?: string;
};

/** Returns what a refused request says, in one sentence. */
export function messageOf({ status, json }: Pick<Reply, 'status' | 'json'>): string {
  const { error } = (json ?? {}) as { readonly error?: { readonly message?: string } };
  return error?.message ?? `The server answered ${status}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
