import type { Span } from '../support/trace-collector.ts';

/**
 * Returns the average milliseconds of each part of the POSTs in these spans, made one at a time. The projection of a POST is the last one
 * that ends before its answer. In SQLite it may end before the append.
 */
export function partsOfPosts(spans: readonly Span[]): ReadonlyMap<string, number> {
  const named = (name: string) =>
    spans.filter((span) => span.name === name).map((span) => ({ ...span, ...timesOf(span) }));
  const appends = new Map(named('append').map((span) => [span.parentSpanId, span]));
  const projections = named('project').sort((one, other) => one.end - other.end);
  const sums = new Map<string, number>();
  let posts = 0;
  const add = (part: string, ms: number) => sums.set(part, (sums.get(part) ?? 0) + ms);
  for (const post of named('POST /api/restaurants')) {
    const append = appends.get(post.spanId);
    const projection = projections.findLast(({ end }) => end >= post.start && end <= post.end);
    if (append === undefined || projection === undefined) continue;
    posts += 1;
    add('the request and the locks, before the append', append.start - post.start);
    add('the append', append.end - append.start);
    add('the delivery', Math.max(0, projection.start - append.end));
    add('the projection', projection.end - projection.start);
    add('the answer', post.end - Math.max(append.end, projection.end));
  }
  return new Map([...sums].map(([part, ms]) => [part, Math.round((ms / posts) * 1_000) / 1_000]));
}

function timesOf({ startTimeUnixNano, endTimeUnixNano }: Span) {
  const ms = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000n) / 1_000;
  return { start: ms(startTimeUnixNano), end: ms(endTimeUnixNano) };
}
