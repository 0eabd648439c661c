import { EventEmitter } from 'node:events';
import { createRecordList, type RecordList } from './record-list.ts';

/** One record of the double's log: an event as a KurrentDB server keeps it. */
export type LogRecord = {
  /** Where it stands in the transaction log, in bytes, as on the server: commit and prepare position are the same. */
  readonly position: bigint;
  readonly stream: string;
  readonly revision: bigint;
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** 100 ns since 1970. */
  readonly created: bigint;
};

export type ProposedEvent = Pick<LogRecord, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;

export type ExpectedState = bigint | 'any' | 'no_stream' | 'stream_exists';

export type WriteResult =
  | { readonly kind: 'written'; readonly revision: bigint; readonly position: bigint }
  | { readonly kind: 'wrong-expected-version'; readonly current: bigint | undefined }
  | { readonly kind: 'stream-deleted' };

export type DoubleLog = {
  readonly records: Pick<RecordList<LogRecord>, 'length' | 'at' | 'alike'> & Iterable<LogRecord>;
  write(stream: string, expected: ExpectedState, events: readonly ProposedEvent[]): WriteResult;
  /** So many small events of another application, in one stream. They take no memory. */
  addForeign(count: number): void;
  /** Hard delete: the stream can never be written or read again. */
  tombstone(stream: string): void;
  /** Of the stream, in order of revision; undefined when it does not exist. */
  read(stream: string): readonly LogRecord[] | undefined;
  isTombstoned(stream: string): boolean;
  /** `written` after each write. */
  readonly growth: EventEmitter<{ written: [] }>;
};

const TOMBSTONE_REVISION = 2n ** 63n - 1n;
const STATISTICS_EVERY = 16;
const FOREIGN_BYTES = 160n;

/**
 * The log of the KurrentDB test double, in memory: positions count bytes and are sparse, system streams begin it and are
 * written to between others' events, and a write whose event ids are there already may be taken for a repetition, by the
 * rules of KurrentDB's IndexWriter.CheckCommit. `rememberedIds`: for how many of the newest events a write that expects
 * `any` is recognised (the server keeps as many ids as fit its cache).
 */
export const createDoubleLog = ({ rememberedIds = 1_000 } = {}): DoubleLog => {
  const records = createRecordList<LogRecord>();
  const streams = new Map<string, LogRecord[]>();
  const remembered = new Map<string, LogRecord>();
  const tombstones = new Set<string>();
  const growth = new EventEmitter<{ written: [] }>().setMaxListeners(0);
  let end = 0n;
  let writes = 0;

  const push = (stream: string, event: ProposedEvent, revision: bigint): LogRecord => {
    const created = BigInt(Date.now()) * 10_000n;
    const record = { ...event, stream, revision, position: end, created };
    end += BigInt(120 + Buffer.byteLength(stream) + event.data.length + event.metadata.length);
    records.push(record);
    const inStream = streams.get(stream);
    if (inStream === undefined) streams.set(stream, [record]);
    else inStream.push(record);
    remembered.set(event.id, record);
    for (const id of remembered.keys()) {
      if (remembered.size <= rememberedIds) break;
      remembered.delete(id);
    }
    return record;
  };
  const pushSystemEvent = (stream: string, type: string) =>
    push(stream, systemEvent(type), BigInt(streams.get(stream)?.length ?? 0));

  pushSystemEvent('$settings', '$settings-updated');
  pushSystemEvent('$users', '$user-created');
  return {
    records,
    growth,
    read: (stream) => streams.get(stream),
    isTombstoned: (stream) => tombstones.has(stream),
    write(stream, expected, events) {
      if (tombstones.has(stream)) return { kind: 'stream-deleted' };
      const current = streams.get(stream) ?? [];
      const earlier = checkCommit(current, expected, events, remembered);
      if (earlier !== 'ok') return earlier;
      const next = BigInt(current.length);
      const written = events.map((event, n) => push(stream, event, next + BigInt(n)));
      writes += 1;
      if (writes % STATISTICS_EVERY === 0) pushSystemEvent('$stats-127.0.0.1:2113', '$statsCollected');
      growth.emit('written');
      return writeResult(written.at(-1) as LogRecord);
    },
    addForeign(count) {
      const base = end;
      const created = BigInt(Date.now()) * 10_000n;
      const event = { ...systemEvent('thing-happened'), data: Buffer.from('{"small":true}') };
      const stream = 'elsewhere.application-1';
      records.pushAlike(count, (n) => ({
        ...{ ...event, stream, created },
        revision: BigInt(n),
        position: base + BigInt(n) * FOREIGN_BYTES,
      }));
      end += BigInt(count) * FOREIGN_BYTES;
      growth.emit('written');
    },
    tombstone(stream) {
      tombstones.add(stream);
      push(stream, systemEvent('$streamDeleted'), TOMBSTONE_REVISION);
      growth.emit('written');
    },
  };
};

const writeResult = ({ revision, position }: LogRecord): WriteResult => ({
  kind: 'written',
  revision,
  position,
});

const systemEvent = (type: string): ProposedEvent => ({
  id: crypto.randomUUID(),
  type,
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from(''),
});

/** Whether a write may go on, or its result: that of the same write made before, or a conflict. */
const checkCommit = (
  stream: readonly LogRecord[],
  expected: ExpectedState,
  events: readonly ProposedEvent[],
  remembered: ReadonlyMap<string, LogRecord>,
): WriteResult | 'ok' => {
  const current = stream.at(-1)?.revision;
  const conflict = { kind: 'wrong-expected-version', current } as const;
  if (expected === 'stream_exists' && current === undefined) return conflict;
  const isAny = expected === 'any' || expected === 'stream_exists';
  if (!isAny) {
    const revision = expected === 'no_stream' ? -1n : expected;
    if (revision === (current ?? -1n)) return 'ok';
    if (revision > (current ?? -1n)) return conflict;
  }
  const first = expected === 'no_stream' ? 0n : isAny ? undefined : expected + 1n;
  const found = events.map((event, n) => findRepeated(stream, event, n, first, remembered));
  if (found.every((record) => record !== undefined)) return writeResult(found.at(-1) as LogRecord);
  return isAny && found[0] === undefined ? 'ok' : conflict;
};

/** With an expected revision an id must stand at its own place behind it; without one anywhere in the stream. */
const findRepeated = (
  stream: readonly LogRecord[],
  event: ProposedEvent,
  n: number,
  first: bigint | undefined,
  remembered: ReadonlyMap<string, LogRecord>,
): LogRecord | undefined => {
  const record = first === undefined ? remembered.get(event.id) : stream[Number(first) + n];
  return record?.id === event.id && record.stream === stream[0]?.stream ? record : undefined;
};
