import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { pct, sorted } from '../conformance/bench/common.mjs';
import { isGood, type LoadResult, type Traffic } from './measure-load.ts';

export type Span = { readonly from: number; readonly to: number };

/** `slowest`: milliseconds of the slowest good answer. */
export type TimedLoad = LoadResult & { readonly slowest: number };

/** Load that runs until it is stopped. Moments are of `performance.now()`. */
export type RunningLoad = {
  /** Returns the answers that came between two moments, except those in the span `except`. */
  between(from: number, to: number, except?: Span): TimedLoad;
  /** Resolves when every connection has its last answer. */
  stop(): Promise<void>;
};

/** An answer. A request without an answer has status 0. */
type Answer = { readonly at: number; readonly status: number; readonly milliseconds: number };

/**
 * Loads a server over keep-alive connections, each with one request in flight: without a pause, or with `perSecond` requests in total.
 * A request that had to wait for the previous answer is timed from the moment at which it was due. All others are timed from their
 * sending, since a late timer is a delay of this process. A connection that the server closes is opened again. We do not use autocannon:
 * it sends two requests at once on a connection that was opened again, so its load grows with each hand-over.
 */
export function startLoad(traffic: Traffic, connections: number, perSecond?: number): RunningLoad {
  const answers: Answer[] = [];
  let next = 0;
  let isStopped = false;
  const loop = async (slot: number) => {
    const client = new Client(traffic.base, {
      pipelining: 1,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const pause = perSecond === undefined ? 0 : (connections * 1_000) / perSecond;
    let due = performance.now() + (slot / connections) * pause;
    while (!isStopped) {
      const early = due - performance.now();
      if (early > 0) await delay(early);
      const begun = early > 0 || pause === 0 ? performance.now() : due;
      const status = await answerTo(client, traffic.request(next++));
      const at = performance.now();
      answers.push({ at, status, milliseconds: at - begun });
      due = pause === 0 ? at : due + pause;
    }
    await client.close();
  };
  const loops = Array.from({ length: connections }, (_, slot) => loop(slot));
  return {
    between(from, to, except = { from: to, to }) {
      const within = answers.filter(
        ({ at }) => at >= from && at < to && !(at >= except.from && at < except.to),
      );
      const good = within.filter(({ status }) => isGood(status));
      const times = sorted(good.map(({ milliseconds }) => milliseconds));
      return {
        rate: good.length / ((to - from) / 1000),
        p50: pct(times, 0.5),
        p99: pct(times, 0.99),
        p999: pct(times, 0.999),
        slowest: times.at(-1) ?? 0,
        requests: good.length,
        failed: within.length - good.length,
      };
    },
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}

const TIMEOUT_MS = 30_000;
const HEADERS = { 'content-type': 'application/json' };

/** Resolves to the status of the answer when its whole body has arrived, or to 0 if it did not. */
function answerTo(client: Client, { method, path, body }: ReturnType<Traffic['request']>): Promise<number> {
  return new Promise((resolve) => {
    let status = 0;
    client.dispatch(
      { method, path, headers: HEADERS, body: body ?? null },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData() {},
        onResponseEnd: () => resolve(status),
        onResponseError: () => resolve(0),
      },
    );
  });
}
