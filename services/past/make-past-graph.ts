import { existsSync, rmSync } from 'node:fs';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { defineAhead, deleteAhead } from '../../projections/graph/converted-copy.ts';
import { catchUpOrThrow } from '../../projections/graph/projector.ts';
import { checkHistory } from '../../projections/graph/store/check-history.ts';
import { PROJECTOR_VERSION } from '../../projections/graph/store/projector-version.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { definitionStream } from '../../shared/document/stream-name.ts';
import { type DocumentErased, erasureStream } from '../../shared/erasure/erasure-events.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { laterPosition } from '../../shared/event-store/later-position.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { isDiskFull } from '../../shared/sqlite/failures.ts';
import { isSnapshotDue } from './snapshot-pace.ts';
import { expandSnapshot, keepSnapshot, listSnapshots, type SnapshotFolder } from './snapshots.ts';

export type PastGraphOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** File of the graph that is made. It must not exist. */
  readonly file: string;
  /** The last position that is applied. */
  readonly position: bigint;
  /** A live graph that is later may be used as it is. */
  readonly mayBeLater: boolean;
  /** File of the live graph; undefined if it is later than the position. */
  readonly live: string | undefined;
  readonly snapshots: SnapshotFolder;
  /** Returns the size of the log in bytes up to its end. */
  readonly logBytes: (end: bigint) => number;
  /** Names of the content types in force now. */
  readonly types: readonly string[];
  /** Called with why a snapshot cannot be used or made. Without it the past is opened later. */
  readonly report: (problem: string, error: unknown) => void;
  /** Bytes of the log between two snapshots at least. */
  readonly leastApart: number;
};

/**
 * Makes a graph that ends at a position, with the content types of now: later definitions are applied to it in their order. Begins with a
 * copy of the live graph, or with the nearest snapshot, or with the first event of the log, and makes the snapshots that are due on the way.
 * Resolves with the position that it began with, and the last one that it has applied. Rejects if the log has events that this program cannot
 * read, or the disk is full.
 */
export async function makePastGraph(wanted: PastGraphOptions): Promise<PastRange> {
  const { log, file } = wanted;
  const from = (await copyLive(wanted)) ?? (await copySnapshot(wanted)) ?? 0n;
  const position = laterPosition(from, wanted.position);
  const options = { ...wanted, position };
  const graph = openContentGraph(file, { building: isFar(options, from) });
  try {
    const onBatch = await snapshotsOnTheWay(options, graph);
    await catchUpOrThrow(log, graph, { until: position, onBatch });
    await onBatch();
    graph.settle();
    // The replay of a later graph ends at once, without an error.
    if (graph.position() > position) throw new Error(`the graph is already at position ${graph.position()}`);
    deleteAhead(graph, await laterErased(options));
    defineAhead(graph, await laterDefinitions(options));
  } finally {
    graph.close();
  }
  return { from, position };
}

/** Positions of the log: the graph began at `from`, and has all events up to `position`. */
export type PastRange = { readonly from: bigint; readonly position: bigint };

/** Events from which a second thread for writes is faster. Positions of KurrentDB count bytes. */
const FAR = 50_000n;

function isFar({ position, log }: PastGraphOptions, from: bigint): boolean {
  return from === 0n || (log.chain !== undefined && position - from > FAR);
}

/** Copies the live graph. Resolves with its position; undefined if it does not fit. */
async function copyLive({
  live,
  file,
  log,
  position,
  mayBeLater,
}: PastGraphOptions): Promise<bigint | undefined> {
  if (live === undefined || !existsSync(live)) return undefined;
  copyDatabase(live, file);
  const found = await checkGraph(log, file);
  if (found !== undefined && (mayBeLater || found <= position)) return found;
  removeDatabase(file);
  return undefined;
}

/** Reads the nearest snapshot that can be used, and removes those that cannot. Resolves with its position; undefined if there is none. */
async function copySnapshot({
  snapshots,
  file,
  log,
  position,
  report,
}: PastGraphOptions): Promise<bigint | undefined> {
  for (const snapshot of listSnapshots(snapshots)) {
    if (snapshot.position > position) continue;
    try {
      await expandSnapshot(snapshot, file);
      const found = await checkGraph(log, file);
      if (found !== undefined) return found;
      report('a snapshot is removed', new Error('it was made from another log'));
    } catch (error) {
      if (isDiskFull(error)) throw error;
      report('a snapshot is removed', error);
    }
    removeDatabase(file);
    rmSync(snapshot.file, { force: true });
  }
  return undefined;
}

/** Returns the position of a graph; undefined if it was made from another log or by another version of the projector. */
async function checkGraph(log: EventStore, file: string): Promise<bigint | undefined> {
  const graph = openContentGraph(file);
  try {
    if (graph.projectorVersion() !== PROJECTOR_VERSION) return undefined;
    const position = graph.position();
    const history = await checkHistory(log, { position, last: graph.lastEvent(), samples: [] });
    return history.kind === 'same' ? position : undefined;
  } finally {
    graph.close();
  }
}

/** Returns a function that makes a snapshot of the graph after a batch, if one is due. */
async function snapshotsOnTheWay(options: PastGraphOptions, graph: ContentGraph) {
  const { log, file, snapshots: where, report, leastApart } = options;
  const end = await log.lastPosition();
  const logBytes = options.logBytes(end);
  let snapshots = listSnapshots(where);
  let mayFit = true;
  return async (): Promise<'continue'> => {
    const graphBytes = () => graph.size().bytes;
    const place = { position: graph.position(), end, logBytes, snapshots, graphBytes, leastApart };
    if (!mayFit || !isSnapshotDue(place)) return 'continue';
    try {
      graph.settle();
      mayFit = await keepSnapshot(file, where, { scratch: `${file}-snapshot`, logBytes });
    } catch (error) {
      mayFit = false;
      report('a snapshot cannot be made', error);
    }
    snapshots = listSnapshots(where);
    return 'continue';
  };
}

/** Returns the definitions after the position that have an effect, in the order of the log. */
async function laterDefinitions({ log, space, position, types }: PastGraphOptions) {
  const { stream } = createEffectiveEvents(log, space);
  const later: StoredEvent[] = [];
  for (const type of types)
    for await (const event of stream(definitionStream(space, type))) {
      refuseUnreadable(event);
      if (event.position > position) later.push(event);
    }
  later.sort((a, b) => (a.position < b.position ? -1 : 1));
  return later.map(({ data }) => data as TypeDefinition);
}

/** Returns the documents that were erased after the position. */
async function laterErased({ log, space, position }: PastGraphOptions): Promise<readonly DocumentName[]> {
  const erased: DocumentName[] = [];
  for await (const event of log.readStream(erasureStream(space))) {
    refuseUnreadable(event);
    if (event.type === 'document-erased' && event.position > position)
      erased.push(event.data as DocumentErased['data']);
  }
  return erased;
}
