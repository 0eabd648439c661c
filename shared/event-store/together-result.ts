import type { AppendResult, OrderedAppend, TogetherResult } from './event-store.ts';

/** Throws if two of the appends, which are stored together, are to one stream. */
export function refuseRepeatedStreams(appends: readonly OrderedAppend[]): void {
  const streams = new Set(appends.map(({ stream }) => stream));
  if (streams.size < appends.length)
    throw new TypeError('appends that are stored together name a stream twice');
}

/** Returns one result for appends that were stored together, or none of them. An undefined result was not stored because of another one. */
export function togetherResult(
  appends: readonly Pick<OrderedAppend, 'stream'>[],
  results: readonly (AppendResult | undefined)[],
): TogetherResult {
  if (results.some((result) => result?.kind === 'fenced')) return { kind: 'fenced' };
  for (const [n, result] of results.entries()) {
    if (result?.kind === 'conflict')
      return { kind: 'conflict', stream: appends[n]?.stream ?? '', actual: result.actual };
  }
  const last = results.at(-1);
  if (last?.kind !== 'appended') throw new Error('the event log stored only a part of the appends');
  return { kind: 'appended', position: last.position };
}
