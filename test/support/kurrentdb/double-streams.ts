import type { LogRecord } from './double-record.ts';

/** Metadata of a stream that an operator sets. A server keeps it in `$$<stream>`. */
export type StreamMetadata = {
  /** `$tb`: reads begin at this revision. */
  readonly truncateBefore?: bigint;
  /** `$maxCount`: reads show so many of the newest events. */
  readonly maxCount?: number;
};

/**
 * EventNumber.DeletedStream: a stream truncated before it is soft-deleted, one whose last event has it was tombstoned.
 */
export const DELETED_STREAM = 2n ** 63n - 1n;

export type DoubleStreams = {
  add(record: LogRecord): void;
  /** The record at a revision, whether reads show it or not (IndexReader.ReadPrepare). */
  at(stream: string, revision: bigint): LogRecord | undefined;
  /** The revision of the last event, whether reads show it or not. Undefined: there never was one. */
  last(stream: string): bigint | undefined;
  /** Returns the records that a read shows, in order of revision; undefined for `NoStream`. */
  visible(stream: string): readonly LogRecord[] | undefined;
  metadata(stream: string): StreamMetadata;
  isSoftDeleted(stream: string): boolean;
  setMetadata(stream: string, metadata: StreamMetadata): void;
  /** Removes what reads do not show, but for each stream's last event, and returns it. */
  scavenge(): readonly LogRecord[];
};

/**
 * The streams of the test double, after IndexReader.cs of the server (ReadStreamEventsForwardInternal, ReadEventInternal): a stream
 * truncated before the largest revision does not exist for reads; of others they show what is neither before `$tb` nor older
 * than the newest `$maxCount`. Revisions stay.
 */
export const createDoubleStreams = (): DoubleStreams => {
  const streams = new Map<string, LogRecord[]>();
  const metadata = new Map<string, StreamMetadata>();

  const last = (stream: string) => streams.get(stream)?.at(-1)?.revision;
  const isSoftDeleted = (stream: string) => metadata.get(stream)?.truncateBefore === DELETED_STREAM;
  const firstShown = (stream: string): bigint => {
    if (last(stream) === DELETED_STREAM) return DELETED_STREAM;
    const { truncateBefore = 0n, maxCount } = metadata.get(stream) ?? {};
    const oldest = maxCount === undefined ? 0n : (last(stream) ?? 0n) - BigInt(maxCount) + 1n;
    return truncateBefore > oldest ? truncateBefore : oldest;
  };
  const from = (stream: string, revision: bigint): readonly LogRecord[] => {
    const records = streams.get(stream) ?? [];
    const skipped = revision - (records[0]?.revision ?? 0n);
    return skipped <= 0n ? records : records.slice(Number(skipped));
  };
  return {
    add(record) {
      const records = streams.get(record.stream);
      if (records === undefined) streams.set(record.stream, [record]);
      else records.push(record);
    },
    at(stream, revision) {
      const [record] = from(stream, revision);
      return record?.revision === revision ? record : undefined;
    },
    last,
    visible: (stream) =>
      last(stream) === undefined || isSoftDeleted(stream) ? undefined : from(stream, firstShown(stream)),
    metadata: (stream) => metadata.get(stream) ?? {},
    isSoftDeleted,
    setMetadata(stream, set) {
      metadata.set(stream, set);
    },
    scavenge() {
      const removed: LogRecord[] = [];
      for (const [stream, records] of streams) {
        const first = firstShown(stream);
        const kept = records.filter(({ revision }, n) => revision >= first || n === records.length - 1);
        removed.push(...records.filter((record) => !kept.includes(record)));
        streams.set(stream, kept);
      }
      return removed;
    },
  };
};
