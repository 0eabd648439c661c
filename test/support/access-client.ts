import { expect } from 'vitest';

/** An answer. `body` is parsed JSON, or text. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any;
};

export type Ask = (
  path: string,
  init?: {
    readonly method?: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  },
) => Promise<Answer>;

/** Sends requests to a server under test, with or without a token. `body` is sent as JSON unless it is a form. */
export function createAsk(base: string, token?: string): Ask {
  return async (path, { method = 'GET', body, headers = {} } = {}) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(base + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
}

/** Requests of a caller with full access (`askAll`), and of one with the token of a site (`ask`). */
export type Callers = { readonly askAll: Ask; readonly ask: Ask; readonly token: string };

/** Creates the callers of a server that has no tokens yet. `allow`: the actions that the site's token allows. */
export async function createCallers(base: string, allow: readonly string[]): Promise<Callers> {
  const full = await createTokenOver(createAsk(base), { name: 'all', type: 'full-access' });
  const askAll = createAsk(base, full);
  const token = await createTokenOver(askAll, { name: 'site', type: 'custom', allow });
  return { askAll, ask: createAsk(base, token), token };
}

export type TokenBody = {
  readonly name: string;
  readonly type: 'read-only' | 'full-access' | 'custom';
  readonly allow?: readonly string[];
  readonly drafts?: boolean;
  readonly history?: boolean;
  readonly expires?: string;
};

/** Creates a token over HTTP and returns its secret. */
export async function createTokenOver(ask: Ask, data: TokenBody): Promise<string> {
  const { status, body } = await ask('/_varve/tokens', { method: 'POST', body: { data } });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data.accessKey as string;
}
