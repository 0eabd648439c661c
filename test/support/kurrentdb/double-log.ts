import { EventEmitter } from 'node:events';
import { checkCommit } from './double-commit.ts';
import type { ExpectedState, LogRecord, ProposedEvent, WriteResult } from './double-record.ts';
import { createDoubleStreams, DELETED_STREAM, type StreamMetadata } from './double-streams.ts';
import { createRecordList, type RecordList } from './record-list.ts';

export type DoubleLog = {
  readonly records: Pick<RecordList<LogRecord>, 'length' | 'at' | 'alike'> & Iterable<LogRecord>;
  write(stream: string, expected: ExpectedState, events: readonly ProposedEvent[]): WriteResult;
  /** Adds `count` events of another application in one stream, each with so many bytes of the log. They take no memory. */
  addForeign(count: number, bytes?: number): void;
  /** Deletes a stream permanently: it can never be written or read again. */
  tombstone(stream: string): void;
  /** Soft-deletes a stream: reads do not find it until it is written again, at the next revision. */
  delete(stream: string): void;
  /** Sets a stream's metadata, as an operator does. Reads begin at a later event; revisions do not change. */
  setMetadata(stream: string, metadata: StreamMetadata): void;
  /** Removes the events from `$all` that reads of streams do not show, except each stream's last event. */
  scavenge(): void;
  /** Copies the log as it is now, as a backup does. The function that is returned restores this copy. */
  backUp(): () => void;
  isScavenged(record: LogRecord): boolean;
  /**
   * Returns the records that reads of a stream show, in order of revision, or undefined if the stream does not exist for
   * reads.
   */
  read(stream: string): readonly LogRecord[] | undefined;
  /** Returns the revision of a stream's last event, even if reads do not show it, or undefined if it never had an event. */
  lastRevision(stream: string): bigint | undefined;
  isSoftDeleted(stream: string): boolean;
  isTombstoned(stream: string): boolean;
  /** Emits `written` after each write. */
  readonly growth: EventEmitter<{ written: [] }>;
};

/** The log of a new server begins with records that no read shows. */
const FIRST_POSITION = 548n;
const STATISTICS_EVERY = 16;
const FOREIGN_BYTES = 160;

/**
 * Creates the log of the KurrentDB test double, in memory. Positions count bytes and are sparse. System streams begin the
 * log, and get records between others' events. A write whose event ids exist already may count as a repetition, by the
 * rules of KurrentDB's IndexWriter.CheckCommit. Soft deletes work as in StorageWriterService.cs (WriteDelete,
 * SoftUndeleteStream): a delete sets the stream's metadata, and a later write sets it again. `rememberedIds`: the number of
 * newest events for which a repeated write with the expectation `any` is recognised. A server keeps as many as fit its cache.
 */
export const createDoubleLog = ({ rememberedIds = 1_000 } = {}): DoubleLog => {
  const records = createRecordList<LogRecord>();
  const streams = createDoubleStreams();
  const scavenged = new Set<bigint>();
  const remembered = new Map<string, LogRecord>();
  const tombstones = new Set<string>();
  const growth = new EventEmitter<{ written: [] }>().setMaxListeners(0);
  let end = FIRST_POSITION;
  let writes = 0;

  const push = (stream: string, event: ProposedEvent, revision: bigint): LogRecord => {
    const created = BigInt(Date.now()) * 10_000n;
    const record = { ...event, stream, revision, position: end, created };
    end += BigInt(120 + Buffer.byteLength(stream) + event.data.length + event.metadata.length);
    records.push(record);
    streams.add(record);
    remembered.set(event.id, record);
    for (const id of remembered.keys()) {
      if (remembered.size <= rememberedIds) break;
      remembered.delete(id);
    }
    return record;
  };
  const pushSystemEvent = (stream: string, type: string) =>
    push(stream, systemEvent(type), (streams.last(stream) ?? -1n) + 1n);
  const setMetadata = (stream: string, metadata: StreamMetadata) => {
    pushSystemEvent(`$$${stream}`, '$metadata');
    streams.setMetadata(stream, metadata);
  };

  pushSystemEvent('$$$scavenges', '$metadata');
  return {
    records,
    growth,
    read: (stream) => streams.visible(stream),
    lastRevision: (stream) => streams.last(stream),
    isSoftDeleted: streams.isSoftDeleted,
    isTombstoned: (stream) => tombstones.has(stream),
    write(stream, expected, events) {
      if (tombstones.has(stream)) return { kind: 'stream-deleted' };
      const earlier = checkCommit(streams, { stream, expected, events }, remembered);
      if (earlier !== 'ok') return earlier;
      const next = (streams.last(stream) ?? -1n) + 1n;
      const written = events.map((event, n) => push(stream, event, next + BigInt(n)));
      if (streams.isSoftDeleted(stream))
        setMetadata(stream, { ...streams.metadata(stream), truncateBefore: next });
      writes += 1;
      if (writes % STATISTICS_EVERY === 0) pushSystemEvent('$stats-127.0.0.1:2113', '$statsCollected');
      growth.emit('written');
      const { revision, position } = written.at(-1) as LogRecord;
      return { kind: 'written', revision, position };
    },
    addForeign(count, bytes = FOREIGN_BYTES) {
      const base = end;
      const created = BigInt(Date.now()) * 10_000n;
      const event = { ...systemEvent('thing-happened'), data: Buffer.from('{"small":true}') };
      const stream = 'elsewhere.application-1';
      records.pushAlike(count, (n) => ({
        ...{ ...event, stream, created },
        revision: BigInt(n),
        position: base + BigInt(n * bytes),
      }));
      end += BigInt(count * bytes);
      growth.emit('written');
    },
    delete(stream) {
      setMetadata(stream, { truncateBefore: DELETED_STREAM });
      growth.emit('written');
    },
    setMetadata(stream, metadata) {
      // Setting the metadata of a soft-deleted stream restores it (SoftUndeleteMetastream).
      const isBack = streams.isSoftDeleted(stream);
      const truncateBefore = (streams.last(stream) ?? -1n) + 1n;
      setMetadata(stream, isBack ? { ...metadata, truncateBefore } : metadata);
      growth.emit('written');
    },
    scavenge() {
      for (const { position } of streams.scavenge()) scavenged.add(position);
    },
    backUp() {
      const parts = [
        records.keep(),
        streams.keep(),
        keepAll(scavenged),
        keepAll(tombstones),
        keepAll(remembered),
      ];
      const kept = { end, writes };
      return () => {
        for (const restore of parts) restore();
        ({ end, writes } = kept);
      };
    },
    isScavenged: ({ position }) => scavenged.has(position),
    tombstone(stream) {
      tombstones.add(stream);
      push(stream, systemEvent('$streamDeleted'), DELETED_STREAM);
      growth.emit('written');
    },
  };
};

/** Copies a set or map. The function that is returned puts this state back. */
const keepAll = <T>(part: Set<T> | Map<string, T>): (() => void) => {
  const kept = part instanceof Set ? new Set(part) : new Map(part);
  return () => {
    part.clear();
    if (part instanceof Set) for (const value of kept as Set<T>) part.add(value);
    else for (const [key, value] of kept as Map<string, T>) part.set(key, value);
  };
};

const systemEvent = (type: string): ProposedEvent => ({
  id: crypto.randomUUID(),
  type,
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from(''),
});
