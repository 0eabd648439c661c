import { expect } from 'vitest';

export type ApiAnswer<Data> = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data;
  readonly error?: { readonly name: string; readonly message: string };
  readonly meta?: { readonly pagination?: { readonly total: number } };
};

export type ApiClient = {
  /** Sends a request. `body` is the whole JSON body. */
  call<Data>(method: string, path: string, body?: unknown): Promise<ApiAnswer<Data>>;
  /** The same for an answer that must be a success; returns its `data`. */
  data<Data>(method: string, path: string, body?: unknown): Promise<Data>;
};

/** A plain HTTP client of a server under test. */
export function createApiClient(base: string): ApiClient {
  const call = async <Data>(method: string, path: string, body?: unknown): Promise<ApiAnswer<Data>> => {
    const answer = await fetch(base + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    const json = text === '' ? {} : (JSON.parse(text) as Pick<ApiAnswer<Data>, 'data' | 'error' | 'meta'>);
    return { status: answer.status, headers: answer.headers, data: undefined as Data, ...json };
  };
  return {
    call,
    async data<Data>(method: string, path: string, body?: unknown) {
      const { status, data, error } = await call<Data>(method, path, body);
      expect(error, `${method} ${path}`).toBeUndefined();
      expect(status, `${method} ${path}`).toBeLessThan(300);
      return data;
    },
  };
}
