import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { inSpan, type Tracing } from './tracing.ts';

/** Milliseconds that a query has spent in the read index so far. */
export type IndexTimes = { search: number; populate: number };

/** Returns `index` for one query: adds the time of its calls to `times`. */
export function timeReadIndex(index: ReadIndex, times: IndexTimes): ReadIndex {
  return {
    ...index,
    async search(request) {
      const started = performance.now();
      const result = await index.search(request);
      times.search += performance.now() - started;
      return result;
    },
    async follow(request) {
      const started = performance.now();
      const result = await index.follow(request);
      times.populate += performance.now() - started;
      return result;
    },
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
    follow(request) {
      const attributes = { 'varve.attribute': request.attribute, 'varve.parents': request.parents.length };
      return inSpan(tracing, 'populate', attributes, () => index.follow(request));
    },
  };
}
