import type { DocumentRow, Neighbours } from '../../../shared/read-index/document-index.ts';
import type { IndexProgress } from '../../../shared/read-index/index-progress.ts';
import type { World } from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import { reading, transaction } from '../../../shared/sqlite/transaction.ts';
import type { ReaderContext } from '../read/graph-reader.ts';
import { readNeighbours } from '../read/read-neighbours.ts';
import type { Effects } from '../store/change-log.ts';
import { delegate } from '../store/delegate.ts';
import type { GraphDatabase } from '../store/graph-database.ts';
import { worldNumber } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import { createAwaitedDocuments } from './awaited-documents.ts';
import { countedDocuments, type DocumentCount } from './counted-documents.ts';
import { markDifferences } from './differing-documents.ts';
import { createFanOut, type DependenciesOf } from './fan-out.ts';
import { AFTER_ALL_CHANGES, type LostDocuments, lostDocuments } from './lost-documents.ts';
import type { ParkedDocument } from './parked-rows.ts';
import {
  type DocumentKey,
  type Lane,
  type LaneRange,
  openStaleRows,
  type RowsInFlight,
  type StaleRow,
  type StaleRows,
  type TypeNumbers,
} from './stale-rows.ts';

/** Outcome for a document. */
export type Settlement = {
  readonly document: StaleRow;
  /** Why the index refuses the document; undefined: it is written. */
  readonly refused: string | undefined;
};

/** The stale documents, and the data from which they are made. They are stored with the graph, so a crash loses nothing. */
export type StaleDocuments = LostDocuments & {
  /** False if the graph has changed without recording stale documents, as in a new record. Then every document has to be made. */
  isComplete(): boolean;
  /** Returns whether changes mark documents now, even if earlier changes did not. */
  isRecording(): boolean;
  /**
   * Records the documents that the changes up to `position` make stale. Called inside the graph's transaction, before its position changes.
   */
  markChanged(schema: SchemaView, effects: Effects, position: bigint): void;
  /**
   * Marks every row of these types. From now on changes mark documents. The record is then complete; `isReplacing`: not before
   * `complete`, because searches find other indices until then.
   */
  markAll(types: readonly Uid[], isReplacing?: boolean): void;
  /**
   * Returns how many documents of a type an index has that shows all of them. undefined: the index does not show some of them yet, or that is
   * not known.
   */
  counted(type: Uid, world: World): DocumentCount | undefined;
  /** Takes over the record of another graph's file, from which the documents were made (see `markDifferences`). It is then complete. */
  continueFrom(file: string): void;
  /** Makes the record complete: searches find the documents that it is about. */
  complete(): void;
  /** Makes the record incomplete, also after a restart: the index shows a history that is not the graph's. */
  invalidate(): void;
  /** Returns whether the document is stale. */
  isWaiting(document: DocumentKey): boolean;
  /** Marks documents that are missing or wrong in the index, or superfluous. No write waits for them. */
  remake(documents: readonly DocumentKey[]): void;
  /** Yields every document that should exist. Do not use it while the graph changes. */
  all(): Iterable<StaleRow>;
  next(lane: Lane, limit: number, taken: RowsInFlight, range?: LaneRange): readonly StaleRow[];
  /** Returns the current row of a document, and its neighbours. They are valid until the graph changes. */
  read(document: StaleRow): { readonly row: DocumentRow; readonly neighbours: Neighbours };
  /** Runs synchronous `work`, which only reads documents, faster than separate calls would. */
  reading<T>(work: () => T): T;
  /** Records the outcomes of documents made at a position. */
  settle(position: bigint, settlements: readonly Settlement[]): void;
  /**
   * Records the progress of another process, which writes the documents. A record that is incomplete begins at the first call. It is
   * complete when the writer reaches the position that the graph had at that call. Under steady writes the writer never reaches the current
   * position.
   */
  settleUpTo(progress: Pick<IndexProgress, 'position' | 'without' | 'parked'>): void;
  /** Returns the position since which a document of the lane is stale; undefined if none is stale. */
  oldest(lane: Lane): bigint | undefined;
  /** Returns whether a write at this position has to wait for some document that shows it. */
  isAwaited(position: bigint): boolean;
  count(): { readonly rows: number; readonly oldest: number | undefined };
  /** Number of documents that are written and that searches may not show yet. It survives a crash. */
  unseen(): number;
  noteUnseen(documents: number): void;
  readonly parked: ParkedDocuments;
};

/** The documents that the index refuses. Each waits for its row's next change, or for an operator. */
export type ParkedDocuments = {
  list(): readonly ParkedDocument[];
  /** Includes documents that were dropped or are retried, because the index has an earlier state of them. */
  all(): readonly ParkedDocument[];
  /** Returns a document if it is parked, dropped or not. */
  at(document: DocumentKey): ParkedDocument | undefined;
  /** Returns the parked rows of an entry's document, in all locales and worlds, dropped or not. */
  of(type: Uid, documentId: string): readonly ParkedDocument[];
  /** Schedules the documents after all waiting ones. Returns how many were still refused. */
  retry(documents: readonly DocumentKey[]): number;
  /** Stops reporting the documents. The index keeps their previous state. Returns how many were still refused. */
  drop(documents: readonly DocumentKey[]): number;
};

export type StaleDocumentsOptions = {
  readonly db: GraphDatabase;
  readonly context: () => ReaderContext;
  readonly position: () => bigint;
  readonly dependencies: DependenciesOf;
};

/** Returns the record of a graph. Throws if the graph was opened without one. */
export function staleDocumentsOf({ stale }: { readonly stale: StaleDocuments | undefined }): StaleDocuments {
  if (stale === undefined) throw new Error('the graph does not record stale documents');
  return stale;
}

/** Returns the record of a graph that may open its file again. Each call is passed to the record of the current file. */
export function delegateStaleDocuments(record: () => StaleDocuments | undefined): StaleDocuments {
  const current = () => staleDocumentsOf({ stale: record() });
  return { ...delegate(current), parked: delegate(() => current().parked) };
}

const RECORDED = 'accounted';
const UNSEEN = 'unseen';
/** No graph has this position. */
const NOWHERE = -1n;

/**
 * Opens the marks in the graph's file. They are complete only if the file says so for the graph's position. Otherwise events were applied
 * without marks.
 */
export function openStaleDocuments(options: StaleDocumentsOptions): StaleDocuments {
  const { db, context, position } = options;
  const stale = openStaleRows(db, typeNumbers(context));
  const awaited = createAwaitedDocuments(Number(position()));
  const fanOut = createFanOut(db, { stale, awaited }, options.dependencies);
  const note = (at: bigint) => db.setMeta(RECORDED, at);
  const unseen = () => db.meta(UNSEEN) ?? 0;
  let complete = BigInt(db.meta(RECORDED) ?? NOWHERE) === position();
  /** Position after which all changes have marked their documents. */
  let begun = complete ? position() : undefined;
  let read: { readonly at: bigint; readonly worlds: readonly [Neighbours, Neighbours] } | undefined;
  const around = () => {
    const at = position();
    if (read?.at !== at) read = { at, worlds: readNeighbours(context()) };
    return read.worlds;
  };
  return {
    isComplete: () => complete,
    isRecording: () => begun !== undefined,
    markChanged(schema, effects, at) {
      if (begun === undefined) return;
      // A caller that waits for a change waits for the documents of its whole batch.
      fanOut.mark(schema, effects, { since: Number(position()) + 1, position: Number(at) });
      if (complete) note(at);
    },
    markAll(types, isReplacing = false) {
      const change = { since: Number(position()), position: Number(position()) };
      transaction(db.connection, () => {
        stale.markTypes(types, change);
        if (!isReplacing) note(position());
      });
      complete = !isReplacing;
      begun ??= position();
    },
    continueFrom(file) {
      markDifferences(options, file, { fanOut, stale });
      transaction(db.connection, () => note(position()));
      complete = true;
      begun = position();
    },
    ...lostDocuments(options, stale),
    counted: (...of) => (complete && unseen() === 0 ? countedDocuments(context(), stale, of) : undefined),
    complete() {
      transaction(db.connection, () => note(position()));
      complete = true;
    },
    invalidate() {
      transaction(db.connection, () => note(NOWHERE));
      complete = false;
      begun = undefined;
    },
    isWaiting: stale.isMarked,
    remake(documents) {
      const change = { since: Number(position()), position: Number(position()) };
      transaction(db.connection, () => {
        for (const { world, key } of documents) stale.mark(worldNumber(world), key, 'backlog', change);
      });
    },
    all: stale.everyRow,
    next: stale.next,
    read({ type, world, key }) {
      const neighbours = around()[worldNumber(world)];
      return { row: { type, world, key, position: position() }, neighbours };
    },
    reading: (work) => reading(db.connection, work),
    settle(at, settlements) {
      const written: StaleRow[] = [];
      transaction(db.connection, () => {
        for (const { document, refused } of settlements) {
          if (refused === undefined) written.push(document);
          else stale.park(document, { position: at, reason: refused });
        }
        stale.done(written, Number(at));
      });
      const documents = settlements.map(({ document }) => document);
      awaited.settled(documents, Number(at));
    },
    settleUpTo(progress) {
      begun ??= position();
      const without = (progress.without ?? []).filter((uid) => context().schema.findType(uid) !== undefined);
      // Changes before `begun` have no marks, and documents of these types may lack them.
      const completes = !complete && progress.position >= begun && without.length === 0;
      transaction(db.connection, () => {
        settleRows(stale, { ...progress, without });
        // Another process refreshes what it writes.
        if (unseen() > 0) db.setMeta(UNSEEN, 0n);
        if (completes) note(position());
      });
      complete ||= completes;
      awaited.forget(Number(progress.position));
    },
    oldest(lane) {
      const since = stale.oldest(lane);
      return since === undefined ? undefined : BigInt(since);
    },
    isAwaited: (at) => awaited.isAwaited(Number(at)) ?? stale.mayBeAwaited(Number(at)),
    count: stale.count,
    unseen,
    noteUnseen: (documents) => transaction(db.connection, () => db.setMeta(UNSEEN, BigInt(documents))),
    parked: parkedDocuments(options, stale),
  };
}

function typeNumbers(context: StaleDocumentsOptions['context']): TypeNumbers {
  return {
    typeOf: (number) => context().schema.typeOfNumber(number).uid,
    numberOf: (uid) => context().schema.type(uid).number,
  };
}

function settleRows(
  stale: StaleRows,
  { position, without, parked }: Required<Pick<IndexProgress, 'position' | 'without' | 'parked'>>,
): void {
  stale.forget(Number(position), AFTER_ALL_CHANGES, without);
  if (parked.length === 0 && !stale.hasParked()) return;
  stale.dropAllParked();
  for (const row of parked) stale.park(row, row);
}

function parkedDocuments({ db, position }: StaleDocumentsOptions, stale: StaleRows): ParkedDocuments {
  const count = (documents: readonly DocumentKey[], work: (document: DocumentKey) => boolean) =>
    transaction(db.connection, () => documents.filter(work).length);
  return {
    all: stale.parked,
    at: stale.parkedAt,
    of: (type, documentId) => stale.parkedOf(documentId).filter((row) => row.type === type),
    list: () => stale.parked().filter(({ isHidden }) => isHidden !== true),
    retry: (documents) => count(documents, (document) => stale.retry(document, Number(position()))),
    drop: (documents) => count(documents, stale.drop),
  };
}

/** Returns a name for a document that is unique among those of one graph: `<world> <key>`. */
export function documentName({ world, key }: { readonly world: string; readonly key: number }): string {
  return `${world} ${key}`;
}
