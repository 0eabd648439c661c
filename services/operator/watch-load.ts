import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Load of a server. `delayMs` is the sum of two 99th percentiles: how late timers are, and how long recent requests took after they were
 * read. A request waits in its socket for about as long as a timer is late.
 */
export type LoadSample = {
  readonly delayMs: number;
  /** True if there were enough requests for a measurement. Otherwise `delayMs` is only the lateness of timers. */
  readonly isAsked: boolean;
};

const SAMPLE_MS = 500;
/** Number of samples from which the time of requests is taken: a single sample has too few requests. */
const RECENT_SAMPLES = 4;
const FEWEST_REQUESTS = 100;
const RESOLUTION_MS = 2;
/** Path prefix of operators' requests. They are not measured: they last as long as the work that they start. */
const OPERATORS = '/_varve/';

/**
 * Yields samples of this process twice a second, until the signal is aborted. Later samples are compared with the first one, so it covers
 * two seconds if there are many requests.
 */
export async function* watchLoad(signal: AbortSignal): AsyncGenerator<LoadSample> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const requests = timeRequests();
  try {
    for (let samples = 1; !signal.aborted; samples++) {
      delays.reset();
      await delay(SAMPLE_MS, undefined, { signal, ref: false }).catch(() => {});
      const took = requests.next();
      const isAsked = took > 0;
      if (isAsked && samples < RECENT_SAMPLES) continue;
      yield { delayMs: delays.percentile(99) / 1e6 + took, isAsked };
    }
  } finally {
    delays.disable();
    requests.close();
  }
}

/** Times requests. `next` returns milliseconds over the last samples, 0 if requests were few, and begins a new sample. */
function timeRequests(): { next(): number; close(): void } {
  const started = new WeakMap<object, number>();
  let recent = [createHistogram()];
  const start = (message: unknown) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url?.startsWith(OPERATORS) !== true) started.set(request, performance.now());
  };
  const finish = (message: unknown) => {
    const at = started.get((message as { readonly request: IncomingMessage }).request);
    if (at !== undefined) recent[0]?.record(Math.max(1, Math.round((performance.now() - at) * 1e6)));
  };
  subscribe('http.server.request.start', start);
  subscribe('http.server.response.finish', finish);
  return {
    next() {
      const all = createHistogram();
      for (const each of recent) all.add(each);
      recent = [createHistogram(), ...recent.slice(0, RECENT_SAMPLES - 1)];
      return all.count < FEWEST_REQUESTS ? 0 : all.percentile(99) / 1e6;
    },
    close() {
      unsubscribe('http.server.request.start', start);
      unsubscribe('http.server.response.finish', finish);
    },
  };
}
