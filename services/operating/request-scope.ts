import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** What is known of the request that the running code works for. */
export type RequestScope = {
  readonly id: string;
  /** Milliseconds spent in the read index so far, by what was asked. */
  searchMs: number;
  populateMs: number;
};

const scopes = new AsyncLocalStorage<RequestScope>();

/** undefined outside of requests: at start, in projections. */
export function currentRequest(): RequestScope | undefined {
  return scopes.getStore();
}

export function runInRequest<Result>(scope: RequestScope, work: () => Result): Result {
  return scopes.run(scope, work);
}

export function createScope(id: string): RequestScope {
  return { id, searchMs: 0, populateMs: 0 };
}

/** What callers send as `X-Request-Id` is written to logs and answers, so only what is plainly an id counts. */
const SANE_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** The id that a caller has given its request. */
export function givenRequestId(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && SANE_ID.test(header) ? header : undefined;
}

const processId = randomBytes(6).toString('hex');
let requests = 0;

/** Unique over all processes of a fleet. */
export function newRequestId(): string {
  return `${processId}-${(++requests).toString(36)}`;
}
