import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { Journal, Removals } from '../journal/journal.ts';
import { applyEvents } from './apply-events.ts';
import { type TypeEffect, typeEffects } from './convert/type-effects.ts';
import { type GraphParts, openGraphParts, readerContextOf } from './graph-parts.ts';
import { entriesOfDocument } from './read/document-rows.ts';
import type { ReaderContext } from './read/graph-reader.ts';
import { type GraphInspection, inspectGraph } from './read/inspect-graph.ts';
import { readWholeGraph } from './read/read-whole-graph.ts';
import type { DependenciesOf } from './stale/fan-out.ts';
import { openStaleDocuments, type StaleDocuments } from './stale/stale-documents.ts';
import type { ForeignEvents } from './store/foreign-events.ts';
import { type GraphDatabase, lookAtGraphDatabase, openGraphDatabase } from './store/graph-database.ts';
import { hasRows } from './store/graph-entry.ts';
import type { IndexChanges } from './store/index-changes.ts';
import { type AppliedEvent, openSearchedName } from './store/log-checkpoint.ts';
import { JOURNAL_SINCE, PROJECTOR_VERSION } from './store/projector-version.ts';

/** One open file of a graph. Only the graph may keep a reference to it, because the graph opens its file again after an error. */
export type GraphFile = {
  /**
   * Applies events in one transaction with the checkpoint, and returns their net effect on the read index. Events must continue at the
   * checkpoint. Throws if an event does not fit or cannot be read; the graph then refuses everything until it is opened again. `upTo`: the
   * log was searched up to this position; absent: up to the last event.
   */
  apply(events: readonly StoredEvent[], upTo?: bigint): ChangeBatch;
  /**
   * Applies events without an index, which is faster: at start, in a rebuild, in an import. While a graph is built, another thread writes.
   * An error then comes with a later call. After a crash the graph is at an earlier checkpoint.
   */
  replay(events: readonly StoredEvent[], upTo?: bigint): void;
  /** Resolves when replayed events are in the file, for other readers of it. Throws if they could not be written. */
  settle(): void;
  /** Position of the last event applied; 0n before the first. */
  position(): bigint;
  /** Last applied event; undefined if an earlier release applied it. */
  lastEvent(): AppliedEvent | undefined;
  /** Position from which the log is read on. It is that of the last event applied, or later. */
  readFrom(): bigint;
  /** Searched position whose history should be named now, and its name; see `openSearchedName`. */
  unnamed(): bigint | undefined;
  nameSearched(at: bigint, history: string): void;
  /** Epoch of the newest claim of the lease before a position that was reached since the graph was opened. */
  epochAt(position: bigint): number;
  /** Version of the program that began the graph, see PROJECTOR_VERSION. */
  projectorVersion(): number;
  /** The content types in force at the graph's position. */
  registry(): SchemaRegistry;
  /** Definition of a content type in force, as its event has it (JSON); undefined if there is none. */
  definition(uid: Uid): string | undefined;
  /** Returns what these definitions would do to stored values, see `typeEffects`. Changes nothing. */
  effectsOf(definitions: readonly TypeDefinition[]): readonly TypeEffect[];
  /** Returns what events did to rows, see `Journal`. Without a journal some changes are missing. */
  changesBetween: Journal['between'];
  /** Returns documents of a type that have no rows any more, newest deletion first, see `Journal.removals`. */
  deletions(type: Uid, before: bigint | undefined, limit: number): Removals;
  /** Returns false if a projector that kept no journal made the graph. */
  hasJournal(): boolean;
  /** Number of rows of all types and versions, and bytes of the file. */
  size(): { readonly rows: number; readonly bytes: number };
  /** The events of other programs that were skipped. */
  foreignEvents(): ForeignEvents;
  /** Reads the graph row by row. Valid until the graph changes. */
  inspect(): GraphInspection;
  /** Returns the whole content for the read index, as batches of about `batchSize` rows or links. All rows come before all links. */
  readAll(batchSize?: number): Iterable<ChangeBatch>;
  /** Changes for the index after its last snapshot. */
  readonly indexChanges: Pick<IndexChanges, 'begin' | 'end' | 'after'>;
  /** Stale documents; undefined if the read index has no documents. */
  readonly stale: StaleDocuments | undefined;
  /** Returns the state that reads need. Throws after an event that could not be applied. */
  context(): ReaderContext;
  command: ContentGraphReader['command'];
  close(): void;
};

export type GraphFileOptions = {
  /** Rows that documents show besides their own, if the read index has documents. The graph then records stale documents. */
  readonly dependencies?: DependenciesOf;
  /** Most of the log will be replayed, and no other process reads the file: a separate thread writes it. */
  readonly building?: boolean;
};

/** Opens the file of a graph for reading, and changes nothing. Throws if there is none, or it cannot be used as it is. */
export function lookAtGraphFile(file: string, options: Pick<GraphFileOptions, 'dependencies'>): GraphFile {
  return graphFile(lookAtGraphDatabase(file), options);
}

/** Opens the file, and makes it if there is none. */
export function openGraphFile(file: string, options: GraphFileOptions): GraphFile {
  return graphFile(openGraphDatabase(file, options.building), options);
}

function graphFile(db: GraphDatabase, options: GraphFileOptions): GraphFile {
  const parts = openGraphParts(db);
  const { checkpoint, definitions } = parts;
  const { position } = checkpoint;
  const projectorVersion = versionOf(db, position());
  const { dependencies } = options;
  const stale =
    dependencies && openStaleDocuments({ db, context: () => readerContextOf(parts), position, dependencies });
  const applying = createApplying(parts, stale);
  return {
    apply(events, upTo) {
      const batch = applying.apply(events, true);
      if (upTo !== undefined) checkpoint.searched(upTo);
      return batch;
    },
    replay(events, upTo) {
      if (events.length > 0) applying.apply(events, false);
      if (upTo !== undefined) checkpoint.searched(upTo);
    },
    stale,
    context() {
      applying.refuseAfterFailure();
      return readerContextOf(parts);
    },
    command: parts.commands.find,
    position,
    lastEvent: checkpoint.last,
    readFrom: checkpoint.readFrom,
    ...openSearchedName(db, checkpoint),
    projectorVersion: () => projectorVersion,
    epochAt: parts.claims.epochAt,
    definition: definitions.text,
    registry: () => definitions.view().registry,
    effectsOf: (others) => typeEffects(db.all, others),
    inspect: () => inspectGraph(readerContextOf(parts), position()),
    foreignEvents: parts.foreign.found,
    changesBetween: parts.journal.between,
    indexChanges: parts.indexChanges,
    deletions: (type, before, limit) => readDeletions(parts, type, before, limit),
    hasJournal: () => projectorVersion >= JOURNAL_SINCE,
    size: () => ({ rows: parts.existing.count(), bytes: fileBytes(db) }),
    readAll: (batchSize) => readWholeGraph(readerContextOf(parts), position(), batchSize),
    settle: db.settle,
    close() {
      try {
        if (!applying.hasFailed()) checkpoint.flush();
      } finally {
        db.close();
      }
    },
  };
}

function readDeletions(parts: GraphParts, type: Uid, before: bigint | undefined, limit: number): Removals {
  const context = readerContextOf(parts);
  const view = context.schema.findType(type);
  if (view === undefined) return { documents: [], next: undefined };
  const { documents, next } = parts.journal.removals(view.number, before, limit);
  const isGone = ({ documentId }: { readonly documentId: string }) =>
    entriesOfDocument(context, view, documentId).every(({ id }) => !hasRows(context.existing, id));
  return { documents: documents.filter(isGone), next };
}

/** Applies batches until one fails. Then the transaction is rolled back, but the state in memory is not. */
function createApplying(parts: GraphParts, stale: StaleDocuments | undefined) {
  let failure: Error | undefined;
  const refuseAfterFailure = (): void => {
    if (failure !== undefined) throw new Error('the content graph stopped at an error', { cause: failure });
  };
  return {
    refuseAfterFailure,
    hasFailed: () => failure !== undefined,
    /** `listening`: returns the changes for an index. */
    apply(events: readonly StoredEvent[], listening: boolean): ChangeBatch {
      refuseAfterFailure();
      const isRecording = stale?.isRecording() === true;
      parts.changes.listen(listening || isRecording || parts.indexChanges.isRecording(), isRecording);
      try {
        const has = (wanted: string) => events.some(({ type }) => type === wanted);
        // Definitions are looked up, and converted by, in the file. Events after an erasure read entries from it again.
        const definesTypes = has('content-type-defined');
        const isBehind = !listening && !definesTypes && !has('document-erased');
        return applyBatch(parts, stale, events, { definesTypes, isBehind });
      } catch (error) {
        failure = error as Error;
        throw error;
      }
    },
  };
}

/** Applies events and moves the checkpoint, in one transaction. */
function applyBatch(
  parts: GraphParts,
  stale: StaleDocuments | undefined,
  events: readonly StoredEvent[],
  { definesTypes, isBehind }: { readonly definesTypes: boolean; readonly isBehind: boolean },
): ChangeBatch {
  const { checkpoint, changes } = parts;
  const last = events.at(-1);
  const position = checkpoint.position();
  let batch: ChangeBatch = { position, rows: [], links: [] };
  if (last === undefined) return batch;
  if ((events[0]?.position ?? 0n) <= position)
    throw new Error(`the graph is already at position ${position}`);
  const work = () => {
    applyEvents(parts, events);
    for (const part of [parts.sequences, parts.claims, parts.foreign, parts.commands]) part.flush();
    checkpoint.write(last, events.length);
    stale?.markChanged(parts.definitions.view(), changes.effects(), last.position);
    batch = changes.take(last.position);
    parts.indexChanges.add(batch, definesTypes);
  };
  parts.db.transaction(work, isBehind);
  checkpoint.moved(last);
  return batch;
}

/** A graph without a version was made by the first version of the projector. */
function versionOf(db: GraphDatabase, position: bigint): number {
  const known = db.meta('projector');
  if (known !== undefined) return known;
  if (position > 0n) return 1;
  db.setMeta('projector', PROJECTOR_VERSION);
  return PROJECTOR_VERSION;
}

function fileBytes(db: GraphDatabase): number {
  const [bytes] = db.get('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size') ?? [0];
  return bytes as number;
}
