import autocannon from 'autocannon';
import { pct, sorted } from '../conformance/bench/common.mjs';

export type LoadRequest = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string };

export function get(path: string): LoadRequest {
  return { method: 'GET', path };
}

/** Requests to send: `request(i)` is the i-th. */
export type Traffic = {
  readonly base: string;
  readonly request: (i: number) => LoadRequest;
  /** Headers of every request. Only wrk sends them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns true for the body of an answer with status 200 that reports a failure. Default: no body does. */
  readonly hasFailed?: (body: string) => boolean;
};

export type LoadResult = {
  /** Answers per second while connections were busy. */
  readonly rate: number;
  /** Latencies in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly requests: number;
  /** Answers other than 200 and 201, errors and time-outs. */
  readonly failed: number;
};

/** Loads a server for `seconds`, an integer, over `connections` keep-alive connections. */
export type MeasureLoad = (traffic: Traffic, connections: number, seconds: number) => Promise<LoadResult>;

/** `failures`: the first failed requests, each with its answer. */
export type MeasuredLoad = LoadResult & { readonly failures: readonly string[] };

const MOST_FAILURES = 5;
/** Characters of a request or an answer that a failure shows. */
const SHOWN = 400;

/**
 * Loads a server for `seconds` over `connections` keep-alive connections. Each connection finishes its last request, so a slow query
 * loses nothing at the end and leaves no work for the next measurement.
 */
export async function measureLoad(
  traffic: Traffic,
  connections: number,
  seconds: number,
): Promise<MeasuredLoad> {
  let next = 0;
  let refused = 0;
  let isLastGood = true;
  const failures: string[] = [];
  const note = (failure: string) => {
    if (failures.length < MOST_FAILURES) failures.push(failure);
  };
  const latencies: number[] = [];
  const lastAnswer = new Map<autocannon.Client, number>();
  const start = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url: traffic.base,
        connections,
        duration: seconds + 60,
        timeout: 30,
        headers: { 'content-type': 'application/json' },
        requests: [
          {
            setupRequest(request, context: Asking) {
              context.asked = traffic.request(next++);
              return { ...request, ...context.asked };
            },
            // autocannon calls this right before the event of the same answer.
            onResponse(status, body, { asked }: Asking) {
              isLastGood = isGood(status) && traffic.hasFailed?.(body) !== true;
              if (!isLastGood) note(`${status} ${body.slice(0, SHOWN)} for ${shown(asked)}`);
            },
          },
        ],
      },
      (error, answer) => (error ? reject(error) : resolve(answer)),
    );
    run.on('reqError', ({ message }: Error) => note(message));
    run.on('response', (client, _status, _bytes, milliseconds) => {
      const now = performance.now();
      lastAnswer.set(client, now);
      if (isLastGood) latencies.push(milliseconds);
      else refused++;
      if (now - start >= seconds * 1000) stopClient(client);
    });
  });
  const busy =
    [...lastAnswer.values()].reduce((sum, at) => sum + at - start, 0) / Math.max(1, lastAnswer.size);
  const times = sorted(latencies);
  return {
    rate: latencies.length / (busy / 1000) || 0,
    p50: pct(times, 0.5),
    p99: pct(times, 0.99),
    p999: pct(times, 0.999),
    requests: latencies.length,
    // A time-out is one of the errors.
    failed: refused + result.errors,
    failures,
  };
}

/** State that autocannon keeps for a connection: the request that it sent last. */
type Asking = { asked?: LoadRequest };

function shown(asked: LoadRequest | undefined): string {
  if (asked === undefined) return 'an unknown request';
  const { method, path, body = '' } = asked;
  return `${method} ${path} ${body}`.slice(0, SHOWN);
}

export function isGood(status: number): boolean {
  return status === 200 || status === 201;
}

/** Stops a connection after its current answer, through autocannon's own limit per client. */
function stopClient(client: autocannon.Client): void {
  const limited = client as unknown as { responseMax: number; reqsMade: number };
  limited.responseMax = limited.reqsMade;
}
