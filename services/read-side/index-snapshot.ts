import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { readParts, writeParts } from '../../shared/part-file.ts';
import type { EmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { INDEX_FORMAT } from '../../shared/read-index/index-format.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';

/** First part of a snapshot. It says from what the index was made. */
type Origin = {
  readonly program: string;
  readonly projector: number;
  readonly position: bigint;
  /** Name of the log's history at the position. */
  readonly history: string;
};

type Made = {
  readonly graph: Pick<
    ContentGraph,
    'position' | 'lastEvent' | 'projectorVersion' | 'snapshotFile' | 'indexChanges'
  >;
  readonly log: Pick<EventStore, 'historyAt'>;
  /** Called with what an error prevents. Without a snapshot a start takes longer. */
  readonly report: ReportSnapshot;
};

export type ReportSnapshot = (problem: string, error: Error) => void;

/**
 * Gives an empty index the state of the snapshot next to the graph, and the later changes that the graph has recorded. Resolves to false if
 * there is no snapshot, or if the result is not what a load of the graph would give. The index must not be used then.
 */
export async function restoreIndex(index: EmbeddedIndex, made: Made): Promise<boolean> {
  const { graph, report } = made;
  if (graph.snapshotFile === undefined) return false;
  try {
    if (existsSync(graph.snapshotFile) && (await restoreFrom(graph.snapshotFile, index, made))) return true;
  } catch (error) {
    report('the snapshot of the index cannot be used', error as Error);
  }
  graph.indexChanges.end();
  return false;
}

async function restoreFrom(file: string, index: EmbeddedIndex, { graph, log }: Made): Promise<boolean> {
  const parts = readParts(file);
  try {
    const origin = parts.next().value as Origin;
    const { program, projector, position, history } = origin;
    if (program !== INDEX_FORMAT || projector !== graph.projectorVersion()) return false;
    if (position > graph.position() || history !== (await log.historyAt(position))) return false;
    const changes = graph.indexChanges.after(position);
    if (changes === undefined && position < graph.position()) return false;
    await index.snapshot.restore(parts, position);
    await applyAll(index, changes ?? []);
    await index.apply({ position: graph.position(), rows: [], links: [] });
    return true;
  } finally {
    parts.return(undefined);
  }
}

/** Applies batches. Meanwhile requests are answered that the server is starting. */
async function applyAll(index: EmbeddedIndex, changes: readonly ChangeBatch[]): Promise<void> {
  for (const batch of changes) {
    await index.apply(batch);
    await nextTurn();
  }
}

/** Milliseconds of a save. A supervisor kills workers 15 s after a stop began, with the default time for requests in flight. */
const SAVE_MS = 10_000;

/**
 * Writes a snapshot of the index for the next start, if its content has changed. After an error, such as a full disk, or after `limitMs`,
 * the snapshot before stays.
 */
export function saveIndex(
  index: EmbeddedIndex,
  { graph, report }: Omit<Made, 'log'>,
  limitMs = SAVE_MS,
): void {
  const last = graph.lastEvent();
  if (graph.snapshotFile === undefined || last === undefined || !index.snapshot.hasChanged()) return;
  const { position, chain: history = last.id } = last;
  // After an error the graph may be ahead of the index.
  if (position !== index.position()) return;
  const origin: Origin = { program: INDEX_FORMAT, projector: graph.projectorVersion(), position, history };
  const ends = performance.now() + limitMs;
  try {
    writeParts(graph.snapshotFile, withOrigin(origin, index.snapshot.parts(), ends));
    graph.indexChanges.begin(position);
  } catch (error) {
    report('a snapshot of the index cannot be written', error as Error);
  }
}

function* withOrigin(origin: Origin, parts: Iterable<unknown>, ends: number): Iterable<unknown> {
  yield origin;
  for (const part of parts) {
    if (performance.now() > ends) throw new Error('it takes too long');
    yield part;
  }
}
