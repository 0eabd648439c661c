import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { isAboutContent } from '../../shared/events/about-content.ts';
import { packageVersion } from '../../shared/package-version.ts';
import { readParts, writeParts } from '../../shared/part-file.ts';
import type { EmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';

/** First part of a snapshot. It says from what the index was made. */
type Origin = {
  /** Other programs may make another index from the same graph. */
  readonly program: string;
  readonly projector: number;
  readonly position: bigint;
  /** Name of the log's history at the position. */
  readonly history: string;
};

type Made = {
  readonly graph: Pick<ContentGraph, 'position' | 'lastEvent' | 'projectorVersion' | 'snapshotFile'>;
  readonly log: Pick<EventStore, 'historyAt' | 'readAll'>;
};

/**
 * Gives an empty index the state of the snapshot next to the graph. Resolves to false if there is none, or if it is not what a load of the
 * graph would give; the index must not be used then. A load makes a new one, so no error of a snapshot ends a start.
 */
export async function restoreIndex(index: EmbeddedIndex, { graph, log }: Made): Promise<boolean> {
  if (graph.snapshotFile === undefined) return false;
  const parts = readParts(graph.snapshotFile);
  try {
    const origin = parts.next().value as Origin;
    if (!(await isCurrent(origin, { graph, log }))) return false;
    await index.snapshot.restore(parts, graph.position());
    return true;
  } catch {
    return false;
  } finally {
    parts.return(undefined);
  }
}

/** Returns whether a load of the graph as it is now would give the index of a snapshot. */
async function isCurrent({ position, history, ...rest }: Origin, { graph, log }: Made): Promise<boolean> {
  const isOwn = rest.program === program() && rest.projector === graph.projectorVersion();
  if (!isOwn || position > graph.position()) return false;
  if (history !== (await log.historyAt(position))) return false;
  for await (const event of rawEvents(log, position, { until: graph.position() }))
    if (isAboutContent(event)) return false;
  return true;
}

/** Milliseconds of a save. A supervisor kills workers 15 s after a stop began, with the default time for requests in flight. */
const SAVE_MS = 10_000;

/**
 * Writes a snapshot of the index for the next start, if its content has changed. After an error, such as a full disk, or after `limitMs`,
 * there is none.
 */
export function saveIndex(index: EmbeddedIndex, graph: Made['graph'], limitMs = SAVE_MS): void {
  const last = graph.lastEvent();
  if (graph.snapshotFile === undefined || last === undefined || !index.snapshot.hasChanged()) return;
  const { position, chain: history = last.id } = last;
  // After an error the graph may be ahead of the index.
  if (position !== index.position()) return;
  const origin: Origin = { program: program(), projector: graph.projectorVersion(), position, history };
  const ends = performance.now() + limitMs;
  try {
    writeParts(graph.snapshotFile, withOrigin(origin, index.snapshot.parts(), ends));
  } catch {}
}

function* withOrigin(origin: Origin, parts: Iterable<unknown>, ends: number): Iterable<unknown> {
  yield origin;
  for (const part of parts) {
    if (performance.now() > ends) throw new Error('the snapshot takes too long');
    yield part;
  }
}

/** Name of this program, and of the V8 that reads what it has written. */
function program(): string {
  return `${packageVersion()} ${FORMAT} ${process.versions.v8}`;
}

/** Increase it when an index has other contents or another form than before, although it is made from the same graph. */
const FORMAT = 1;
