import { dirname } from 'node:path';
import { currentProxy } from '../../shared/current-proxy.ts';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { ContentTypeDefined } from '../../shared/document/events.ts';
import type { RecordedRows } from '../../shared/document/recorded-rows.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { waitForFreeDisk } from '../../shared/free-disk.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { applyDocumentEvent, isDocumentEvent } from './apply/apply-event.ts';
import type { GraphContext, Moment } from './apply/graph-context.ts';
import { convertTypes, type Redefinition } from './convert/convert-types.ts';
import { openDefinitions } from './convert/definitions.ts';
import { attachLate, moveEntries } from './convert/move-entries.ts';
import { replaceByConverted } from './late-entries.ts';
import { PROJECTOR_VERSION } from './projector-version.ts';
import { createGraphReader } from './read/graph-reader.ts';
import { type GraphInspection, inspectGraph } from './read/inspect-graph.ts';
import { readWholeGraph } from './read/read-whole-graph.ts';
import { createRecordedRows } from './read/recorded-rows.ts';
import type { DependenciesOf } from './stale/fan-out.ts';
import { openStaleDocuments, type StaleDocuments } from './stale/stale-documents.ts';
import { createChangeLog } from './store/change-log.ts';
import { openClaims } from './store/claims.ts';
import { openCommands } from './store/commands.ts';
import { openNames } from './store/entry-names.ts';
import { type ForeignEvents, openForeignEvents } from './store/foreign-events.ts';
import { writerLock } from './store/generation-files.ts';
import { type GraphDatabase, openGraphDatabase } from './store/graph-database.ts';
import { openGraphSession } from './store/graph-session.ts';
import { createLinkStore } from './store/link-store.ts';
import { type AppliedEvent, openLogCheckpoint } from './store/log-checkpoint.ts';
import { openPendingEdits } from './store/pending-edits.ts';
import { openRowIds } from './store/row-ids.ts';
import { createExistingRows } from './store/row-keys.ts';
import { loadSequences } from './store/sequences.ts';
import type { SchemaView } from './store/type-view.ts';

/**
 * State of the projector: the rows of both worlds and the links between them, computed from the log. It can always be
 * rebuilt: the same log gives the same rows, ids, keys and links, however it is split into batches. It skips events of
 * a leader whose lease had ended, and those of other programs (shared/fleet/fence.ts,
 * shared/event-store/unreadable.ts).
 */
export type ContentGraph = {
  /**
   * Applies events in one transaction with the checkpoint, and returns their net effect on the read index. Events must
   * continue at the checkpoint. Throws if an event does not fit or cannot be read; the graph then refuses everything
   * until it is opened again. `upTo`: the log was searched up to this position; absent: up to the last event.
   */
  apply(events: readonly StoredEvent[], upTo?: bigint): ChangeBatch;
  /**
   * Applies events without an index, which is faster: at start, in a rebuild, in an import. A graph that is being built
   * writes behind: after a crash it is at an earlier checkpoint, and a later call throws the error.
   */
  replay(events: readonly StoredEvent[], upTo?: bigint): void;
  /** Resolves when replayed events are in the file, for other readers of it. Throws if they could not be written. */
  settle(): void;
  /** Position of the last event applied; 0n before the first. */
  position(): bigint;
  /** Last applied event; undefined if an earlier release applied it. */
  lastEvent(): AppliedEvent | undefined;
  /** The position to read the log on from, at or behind the last event applied. */
  readFrom(): bigint;
  /** Epoch of the newest claim of the lease before a position that was reached since the graph was opened. */
  epochAt(position: bigint): number;
  /** Version of the program that began the graph, see PROJECTOR_VERSION. */
  projectorVersion(): number;
  /** The content types in force at that position. */
  registry(): SchemaRegistry;
  /** Definition of a content type in force, as its event has it (JSON); undefined if there is none. */
  definition(uid: Uid): string | undefined;
  readonly reader: ContentGraphReader;
  readonly recorded: RecordedRows;
  /** Rows of all types and versions, and bytes of the file they are in. */
  size(): { readonly rows: number; readonly bytes: number };
  /** The events of other programs that were skipped. */
  foreignEvents(): ForeignEvents;
  /** Row by row, until the graph changes. */
  inspect(): GraphInspection;
  /**
   * Returns the whole content for the read index, as batches of about `batchSize` rows or links; all rows come before
   * all links.
   */
  readAll(batchSize?: number): Iterable<ChangeBatch>;
  /**
   * For a copy that was converted to other content types: takes over the entries that the plain copy, another graph's file, has touched
   * after number `after`, and resolves to the last one. The change is that of this graph (see late-entries.ts).
   */
  takeLate(plain: string, after: number): { readonly change: ChangeBatch; readonly last: number };
  /** Stale documents; undefined if the read index has no documents. */
  readonly stale: StaleDocuments | undefined;
  /**
   * Continues from the checkpoint after an error that left the file unchanged, such as a full disk. References to the
   * graph stay valid. Throws if the file cannot be opened; then it can be called again.
   */
  reopen(): void;
  /** Puts a copy that was converted to other content types in the place of this file. Nobody has the copy open. */
  becomeConverted(copy: string): void;
  /** Resolves as soon as the graph's disk has more free space than now, after `atMostMs`, or when `signal` is aborted. */
  waitForFreeDisk(atMostMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

export type ContentGraphOptions = {
  /**
   * Rows that documents show besides their own, if the read index has documents. The graph then records stale
   * documents.
   */
  readonly dependencies?: DependenciesOf;
  /** Most of the log will be replayed, and no other process reads the file: a separate thread writes it. */
  readonly building?: boolean;
};

/**
 * Opens (or creates) the graph's SQLite file. One process at a time has it open, as its counters and keys are in memory too. Waits two
 * seconds for a process that is ending, then throws a sentence.
 */
export function openContentGraph(file: string, options: ContentGraphOptions = {}): ContentGraph {
  const lock = tryLockFile(writerLock(file), WRITER_ENDS_MS);
  if (lock === undefined) throw new Error(`another process has ${file} open and writes to it`);
  let current: OpenGraph;
  try {
    current = openFile(file, options);
  } catch (error) {
    lock.release();
    throw error;
  }
  return currentProxy(() => current, {
    close() {
      try {
        current.close();
      } finally {
        lock.release();
      }
    },
    reopen() {
      // Opened before the other is closed: closing frees files that a full disk has no space for.
      const next = openFile(file, options);
      current.close();
      current = next;
    },
    becomeConverted(copy: string) {
      current.close();
      replaceByConverted(file, copy);
      current = openFile(file, options);
    },
    waitForFreeDisk: (atMostMs: number, signal: AbortSignal) =>
      waitForFreeDisk(dirname(file), atMostMs, signal),
  });
}

const WRITER_ENDS_MS = 2_000;

type OpenGraph = Omit<ContentGraph, 'reopen' | 'becomeConverted' | 'waitForFreeDisk'>;

function openFile(file: string, options: ContentGraphOptions): OpenGraph {
  const db = openGraphDatabase(file, options.building);
  const sequences = loadSequences(db);
  const names = openNames(db, sequences);
  const definitions = openDefinitions(db, names);
  const claims = openClaims(db);
  const foreign = openForeignEvents(db);
  const commands = openCommands(db);
  const pending = openPendingEdits(db);
  const existing = createExistingRows();
  for (const [key] of db.all('SELECT key FROM rows')) existing.add(key as number);
  const changes = createChangeLog(existing);
  const relationOf = (number: number) => definitions.view().relationOfNumber(number);
  const links = createLinkStore(db, relationOf, changes, names.isFresh);
  const ids = openRowIds(db);
  const checkpoint = openLogCheckpoint(db);
  const projectorVersion = versionOf(db, checkpoint.position());
  let failure: Error | undefined;
  let isAttached = false;
  const stale =
    options.dependencies === undefined
      ? undefined
      : openStaleDocuments({
          db,
          context: () => readerContext(),
          position: checkpoint.position,
          dependencies: options.dependencies,
        });

  const createContext = (schema: SchemaView): GraphContext => {
    const session = openGraphSession(db, names, existing, changes);
    return { db, names, ids, sequences, existing, schema, changes, links, pending, session, flush };
  };
  const flush = (): void => {
    names.flush();
    ids.flush();
    links.flush();
  };
  const finish = (context: GraphContext | undefined): void => {
    context?.session.flush();
    flush();
  };

  const applyAll = (events: readonly StoredEvent[]): void => {
    let context: GraphContext | undefined;
    let before: SchemaView | undefined;
    let redefined = new Map<Uid, Redefinition>();
    let definedAt: Moment = { at: '', position: 0 };
    const inForce = (): GraphContext => {
      if (context !== undefined) return context;
      context = createContext(definitions.view());
      if (before !== undefined && redefined.size > 0)
        convertTypes(context, redefined.values(), before, definedAt);
      before = undefined;
      redefined = new Map();
      return context;
    };
    for (const event of events) {
      refuseUnreadable(event);
      if (foreign.skip(event) || !claims.admit(event)) continue;
      if (isDocumentEvent(event)) {
        applyDocumentEvent(inForce(), event);
        commands.note(event);
      } else if (event.type === 'content-type-defined') {
        const data = event.data as ContentTypeDefined['data'];
        // Applies one change after the other, however the log is split: a value that the first drops does not return
        // with the second.
        if (redefined.has(data.uid)) inForce();
        // Finishes earlier changes under their own definitions.
        finish(context);
        context = undefined;
        before ??= definitions.view();
        definedAt = { at: event.metadata.at, position: Number(event.position) };
        const replaced = definitions.define(data, definedAt.position);
        if (replaced !== undefined) redefined.set(data.uid, { before: replaced, now: data });
      }
    }
    finish(inForce());
  };

  const apply = (events: readonly StoredEvent[], isBehind: boolean): ChangeBatch => {
    const last = events.at(-1);
    const position = checkpoint.position();
    if (last === undefined) return { position, rows: [], links: [] };
    if ((events[0]?.position ?? 0n) <= position)
      throw new Error(`the graph is already at position ${position}`);
    const work = () => {
      applyAll(events);
      sequences.flush();
      claims.flush();
      foreign.flush();
      commands.flush();
      checkpoint.write(last);
      stale?.account(definitions.view(), changes.effects(), last.position);
    };
    db.transaction(work, isBehind);
    checkpoint.moved(last);
    return changes.take(last.position);
  };

  const refuseAfterFailure = (): void => {
    if (failure !== undefined) throw new Error('the content graph stopped at an error', { cause: failure });
  };
  const readerContext = () => ({ db, names, existing, links, pending, schema: definitions.view() });

  const intactContext = () => {
    refuseAfterFailure();
    return readerContext();
  };

  const applyOrStop = (events: readonly StoredEvent[], listening: boolean): ChangeBatch => {
    refuseAfterFailure();
    changes.listen(listening || stale?.isAccounting() === true);
    try {
      // Definitions are looked up, and converted by, in the file.
      const isBehind = !listening && !events.some(({ type }) => type === 'content-type-defined');
      return apply(events, isBehind);
    } catch (error) {
      // The transaction is rolled back, but not the state in memory.
      failure = error as Error;
      throw error;
    }
  };

  return {
    apply(events, upTo) {
      const batch = applyOrStop(events, true);
      if (upTo !== undefined) checkpoint.searched(upTo);
      return batch;
    },
    replay(events, upTo) {
      if (events.length > 0) applyOrStop(events, false);
      if (upTo !== undefined) checkpoint.searched(upTo);
    },
    takeLate(plain, after) {
      const context = createContext(definitions.view());
      if (!isAttached) attachLate(context, plain);
      isAttached = true;
      let last = after;
      changes.listen(true);
      db.transaction(() => {
        last = moveEntries(context, after);
        finish(context);
        sequences.flush();
      }, false);
      return { change: changes.take(checkpoint.position()), last };
    },
    stale,
    position: checkpoint.position,
    lastEvent: checkpoint.last,
    readFrom: checkpoint.readFrom,
    projectorVersion: () => projectorVersion,
    epochAt: claims.epochAt,
    definition: definitions.text,
    registry: () => definitions.view().registry,
    reader: createGraphReader(intactContext, { position: checkpoint.position, command: commands.find }),
    recorded: createRecordedRows(intactContext),
    inspect: () => inspectGraph(readerContext(), checkpoint.position()),
    foreignEvents: foreign.found,
    size: () => ({ rows: existing.count(), bytes: fileBytes(db) }),
    readAll: (batchSize) => readWholeGraph(readerContext(), checkpoint.position(), batchSize),
    settle: db.settle,
    close() {
      try {
        if (failure === undefined) checkpoint.flush();
      } finally {
        db.close();
      }
    },
  };
}

/** A graph without a version was begun before there were versions, by the first. */
function versionOf(db: GraphDatabase, position: bigint): number {
  const [known] = db.get("SELECT value FROM meta WHERE name = 'projector'") ?? [];
  if (known !== undefined) return known as number;
  if (position > 0n) return 1;
  db.run("INSERT INTO meta VALUES ('projector', ?)", PROJECTOR_VERSION);
  return PROJECTOR_VERSION;
}

function fileBytes(db: GraphDatabase): number {
  const [bytes] = db.get('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size') ?? [0];
  return bytes as number;
}
