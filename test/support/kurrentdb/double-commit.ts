import type { ExpectedState, LogRecord, ProposedEvent, WriteResult } from './double-record.ts';
import type { DoubleStreams } from './double-streams.ts';

type Write = {
  readonly stream: string;
  readonly expected: ExpectedState;
  readonly events: readonly ProposedEvent[];
};

/**
 * Returns `ok` if a write may proceed. Otherwise returns its result: that of the same earlier write, or a conflict
 * (IndexWriter.CheckCommit of the server). A soft-deleted stream accepts an append that expects no stream.
 */
export const checkCommit = (
  streams: DoubleStreams,
  write: Write,
  remembered: ReadonlyMap<string, LogRecord>,
): WriteResult | 'ok' => {
  const { stream, expected, events } = write;
  const current = streams.last(stream);
  const conflict = { kind: 'wrong-expected-version', current } as const;
  if (expected === 'stream_exists' && streams.isSoftDeleted(stream)) return { kind: 'stream-deleted' };
  if (expected === 'stream_exists' && current === undefined) return conflict;
  const isAny = expected === 'any' || expected === 'stream_exists';
  const least = expected === 'no_stream' ? -1n : isAny ? undefined : expected;
  if (least === (current ?? -1n)) return 'ok';
  if (least !== undefined && least > (current ?? -1n)) return conflict;
  const first = least === undefined ? undefined : least + 1n;
  const found = events.map((_, n) => findRepeated(streams, write, { n, first, remembered }));
  if (found.every((record) => record !== undefined))
    return repeatedResult(streams, found.at(-1) as LogRecord);
  const begins = isAny || (expected === 'no_stream' && streams.isSoftDeleted(stream));
  return begins && found[0] === undefined ? 'ok' : conflict;
};

/**
 * Finds the record of the `n`th event of a repeated write. If a revision is expected, the record must be at its own revision after
 * it. Otherwise it may be anywhere in the stream.
 */
const findRepeated = (
  streams: DoubleStreams,
  { stream, events }: Write,
  {
    n,
    first,
    remembered,
  }: { n: number; first: bigint | undefined; remembered: ReadonlyMap<string, LogRecord> },
): LogRecord | undefined => {
  const id = events[n]?.id ?? '';
  const record = first === undefined ? remembered.get(id) : streams.at(stream, first + BigInt(n));
  return record?.id === id && record.stream === stream ? record : undefined;
};

/** Returns the result of a repeated write, with the position that reads show. */
const repeatedResult = (streams: DoubleStreams, { stream, revision, position }: LogRecord): WriteResult => {
  const isShown = streams.visible(stream)?.some((record) => record.revision === revision) === true;
  return { kind: 'written', revision, position: isShown ? position : undefined };
};
