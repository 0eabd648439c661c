import type { LogRecord } from './double-record.ts';

/** Metadata of a stream that an operator sets. A server keeps it in `$$<stream>`. */
export type StreamMetadata = {
  /** `$tb`: reads begin at this revision. */
  readonly truncateBefore?: bigint;
  /** `$maxCount`: reads show so many of the newest events. */
  readonly maxCount?: number;
};

/**
 * EventNumber.DeletedStream. A stream that is truncated before this revision is soft-deleted. A stream whose last event has it was
 * tombstoned.
 */
export const DELETED_STREAM = 2n ** 63n - 1n;

export type DoubleStreams = {
  add(record: LogRecord): void;
  /** Returns the record at a revision, even if reads do not show it (IndexReader.ReadPrepare). */
  at(stream: string, revision: bigint): LogRecord | undefined;
  /** Returns the revision of the last event, even if reads do not show it, or undefined if there never was one. */
  last(stream: string): bigint | undefined;
  /** Returns the records that a read shows, in order of revision, or undefined for `NoStream`. */
  visible(stream: string): readonly LogRecord[] | undefined;
  metadata(stream: string): StreamMetadata;
  isSoftDeleted(stream: string): boolean;
  setMetadata(stream: string, metadata: StreamMetadata): void;
  /** Removes the records that reads do not show, except each stream's last event, and returns them. */
  scavenge(): readonly LogRecord[];
  /** Copies the streams as they are now. The function that is returned puts this state back. */
  keep(): () => void;
};

/**
 * Creates the streams of the test double, like IndexReader.cs of the server (ReadStreamEventsForwardInternal, ReadEventInternal). A
 * stream that is truncated before the largest revision does not exist for reads. Of other streams, reads show the events from `$tb` on
 * that are among the newest `$maxCount`. Revisions never change.
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
    keep() {
      const kept = [...streams].map(([stream, records]) => [stream, [...records]] as const);
      const keptMetadata = [...metadata];
      return () => {
        streams.clear();
        for (const [stream, records] of kept) streams.set(stream, [...records]);
        metadata.clear();
        for (const [stream, set] of keptMetadata) metadata.set(stream, set);
      };
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
