import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<string>();

/** Runs `work` for a caller. Queues for scarce work then let this caller and others take turns. */
export function callAs<Result>(caller: string, work: () => Result): Result {
  return callers.run(caller, work);
}

/** Network of the current request's caller; empty for work without a request. */
export function currentCaller(): string {
  return callers.getStore() ?? '';
}
