import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { inSpan, type Tracing } from './tracing.ts';

/** Milliseconds that a query has spent in the read index so far. */
export type IndexTimes = { search: number; populate: number };

/** Returns `index` for one query: adds the time of its calls to `times`. */
export function timeReadIndex(index: ReadIndex, times: IndexTimes): ReadIndex {
  const timed =
    <Request, Result>(phase: keyof IndexTimes, call: (request: Request) => Promise<Result>) =>
    async (request: Request): Promise<Result> => {
      const started = performance.now();
      const result = await call(request);
      times[phase] += performance.now() - started;
      return result;
    };
  return {
    ...index,
    search: timed('search', index.search),
    searchMany: timed('search', index.searchMany),
    traverse: timed('populate', index.traverse),
  };
}

/** Returns `index` with spans for its calls. */
export function traceReadIndex(index: ReadIndex, tracing: Tracing | undefined): ReadIndex {
  if (tracing === undefined) return index;
  return {
    ...index,
    search(request) {
      const attributes = { 'varve.type': request.type, 'varve.world': request.world };
      return inSpan(tracing, 'search', attributes, () => index.search(request));
    },
    searchMany(requests) {
      const types = [...new Set(requests.map(({ type }) => type))].join(' ');
      const attributes = { 'varve.type': types, 'varve.searches': requests.length };
      return inSpan(tracing, 'search', attributes, () => index.searchMany(requests));
    },
    traverse(request) {
      const attributes = { 'varve.attribute': request.attribute, 'varve.parents': request.parents.length };
      return inSpan(tracing, 'populate', attributes, () => index.traverse(request));
    },
  };
}
