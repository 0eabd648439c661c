import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import type { Database } from '../../../shared/sqlite/database.ts';
import { isDiskFull } from '../../../shared/sqlite/failures.ts';
import type { GraphDatabase } from './graph-database.ts';
import { readGraphPosition, readSearchedName } from './graph-position.ts';

/** The last event that a graph has applied. It shows whether a log is the one from which the graph was made. */
export type AppliedEvent = Pick<StoredEvent, 'id' | 'stream' | 'revision' | 'position'> & {
  /** Head of the log's hash chain at the event, where the log has one. */
  readonly chain: string | undefined;
};

/** Position of a graph in its log. */
export type LogCheckpoint = ReturnType<typeof openLogCheckpoint>;

const WRITE_SAMPLE = 'INSERT OR REPLACE INTO applied_events VALUES (?, ?, ?, ?)';
/** Events between two samples of the history. */
const SAMPLE_EVERY = 1_000;
/** Maximum number of samples. Beyond it, every second of the older half is removed. */
const SAMPLES = 64;

const WRITE_LAST = 'INSERT OR REPLACE INTO last_event VALUES (1, ?, ?, ?, ?, ?)';
const SEARCHED_EVERY_MS = 10_000;
/**
 * Largest part of the log that a restart searches again. Positions on a server count bytes: this is about 300,000 records of other
 * namespaces, or a third of a second.
 */
const SEARCHED_AT_MOST = 50_000_000n;

/**
 * Reads the position from the graph's file. If the log has a hash chain, the checkpoint ignores how far the log was searched after the last
 * event.
 */
export function openLogCheckpoint(db: GraphDatabase) {
  let position = readGraphPosition(db.connection);
  let last = readAppliedEvent(db.connection);
  let readFrom = BigInt(db.meta('read_from') ?? 0);
  // With a hash chain the position is enough to continue. A log that was replaced may be shorter than the searched part.
  if (readFrom < position || last?.chain !== undefined) readFrom = position;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let written = readFrom;
  let sinceSample = 0;
  const samples = readSamples(db.connection)
    .map((sample) => sample.position)
    .reverse();
  const writeSearched = () => {
    searchedAt = performance.now();
    written = readFrom;
    writeUnlessFull(db, () => db.setMeta('read_from', readFrom));
  };
  return {
    /** Position of the last event that was applied; 0n before the first. */
    position: (): bigint => position,
    /** The last event that was applied; undefined if there is none, or an earlier release applied it. */
    last: (): AppliedEvent | undefined => last,
    /**
     * Position to continue from: the log was searched up to here. It is the position of the last event or a later one. It is valid only for
     * this log, and is never published.
     */
    readFrom: (): bigint => readFrom,
    /** Records the last event of a batch of so many events. Must run in the transaction of the events. */
    write({ id, stream, revision, position: at, chain }: StoredEvent, events: number): void {
      db.setMeta('position', at);
      sinceSample += events;
      // The first sample of a graph shows which log it was made from.
      if (sinceSample >= SAMPLE_EVERY || samples.length === 0) {
        sinceSample = 0;
        db.run(WRITE_SAMPLE, at, id, stream, revision);
        samples.push(at);
        for (const removed of thin(samples)) db.run('DELETE FROM applied_events WHERE position = ?', removed);
      }
      db.run(WRITE_LAST, at, id, stream, revision, chain ?? null);
    },
    /** Called when the transaction is in the file. */
    moved({ id, stream, revision, position: at, chain }: StoredEvent): void {
      position = at;
      last = { id, stream, revision, position: at, chain };
      if (at > readFrom) readFrom = at;
    },
    /**
     * Records that the log has no further event of the namespace up to here. It is written only now and then, so a restart searches the
     * rest again.
     */
    searched(upTo: bigint): void {
      if (upTo <= readFrom) return;
      readFrom = upTo;
      if (performance.now() - searchedAt < SEARCHED_EVERY_MS && upTo - written < SEARCHED_AT_MOST) return;
      writeSearched();
    },
    /** Writes the last `searched` position: the file is about to be closed. */
    flush(): void {
      if (readFrom > written && readFrom > position) writeSearched();
    },
  };
}

function writeUnlessFull(db: GraphDatabase, write: () => void): void {
  try {
    db.transaction(write, false);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** Opens the name of the log's history up to a position that the graph has searched, after its last event. */
export function openSearchedName(db: GraphDatabase, { position, last, readFrom }: LogCheckpoint) {
  let named = readSearchedName(db.connection)?.position ?? 0n;
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    /** Returns the searched position if its history should be named now, which is now and then. */
    unnamed(): bigint | undefined {
      const at = readFrom();
      if (last()?.chain !== undefined || at <= position() || at <= named) return undefined;
      const isSoon = performance.now() - askedAt < SEARCHED_EVERY_MS;
      if (isSoon && at - named < SEARCHED_AT_MOST) return undefined;
      askedAt = performance.now();
      return at;
    },
    /** Records the name. A start trusts the search up to there if the log has this history still. */
    nameSearched(at: bigint, history: string): void {
      named = at;
      writeUnlessFull(db, () => db.setMeta('searched_name', `${at} ${history}`));
    },
  };
}

/** Removes every second sample of the older half, if there are too many, and returns them. The first one stays. */
function thin(samples: bigint[]): readonly bigint[] {
  if (samples.length <= SAMPLES) return [];
  const removed = samples.filter((_, n) => n < SAMPLES / 2 && n % 2 === 1);
  samples.splice(0, samples.length, ...samples.filter((at) => !removed.includes(at)));
  return removed;
}

/** Reads samples of the applied events, the newest first. */
export function readSamples(db: Database): readonly AppliedEvent[] {
  return db
    .prepare('SELECT position, id, stream, revision FROM applied_events ORDER BY position DESC')
    .all()
    .map(({ position, id, stream, revision }) => ({
      id: String(id),
      stream: String(stream),
      revision: BigInt(revision as number),
      position: BigInt(position as number),
      chain: undefined,
    }));
}

/** Last applied event in a graph's file; undefined if there is none, or an earlier release applied it. */
export function readAppliedEvent(db: Database): AppliedEvent | undefined {
  const row = db.prepare('SELECT position, id, stream, revision, chain FROM last_event').get();
  if (row === undefined) return undefined;
  const { id, stream, revision, chain } = row;
  const position = BigInt(row['position'] as number);
  // An earlier release that ran in between has changed only the position.
  if (position !== readGraphPosition(db)) return undefined;
  return {
    id: String(id),
    stream: String(stream),
    revision: BigInt(revision as number),
    position,
    chain: chain === null ? undefined : String(chain),
  };
}
