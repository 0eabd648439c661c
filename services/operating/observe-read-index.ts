import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { currentRequest, type RequestScope } from './request-scope.ts';
import { inSpan, type Tracing } from './tracing.ts';

/** `index`, which adds what a request takes of it to that request's scope. Calls outside of requests are passed on. */
export function observeReadIndex(index: ReadIndex, tracing: Tracing | undefined): ReadIndex {
  return {
    ...index,
    search(request) {
      const scope = currentRequest();
      if (scope === undefined) return index.search(request);
      const attributes = { 'varve.type': request.type, 'varve.world': request.world };
      const search = () => index.search(request);
      return timed(() => inSpan(tracing, 'search', attributes, search), scope, 'searchMs');
    },
    follow(request) {
      const scope = currentRequest();
      if (scope === undefined) return index.follow(request);
      const attributes = { 'varve.attribute': request.attribute, 'varve.parents': request.parents.length };
      const follow = () => index.follow(request);
      return timed(() => inSpan(tracing, 'populate', attributes, follow), scope, 'populateMs');
    },
  };
}

async function timed<Result>(
  work: () => Promise<Result>,
  scope: RequestScope,
  total: 'searchMs' | 'populateMs',
): Promise<Result> {
  const started = performance.now();
  const result = await work();
  scope[total] += performance.now() - started;
  return result;
}
