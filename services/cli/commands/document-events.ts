import { existsSync } from 'node:fs';
import { documentStream } from '../../../shared/document/stream-name.ts';
import type { EventStore, StoredEvent } from '../../../shared/event-store/event-store.ts';
import { lookAtDatabase } from '../../../shared/sqlite/look-at-database.ts';
import { liveGraphFile } from './live-graph-file.ts';

/**
 * Reads the events of a document from its own stream, using the content types in the graph of the data directory. Returns undefined if
 * there is no graph, or no such document: then the whole log has to be searched.
 */
export async function documentEvents(
  log: EventStore,
  { data, space }: { readonly data: string; readonly space: string },
  documentId: string,
): Promise<readonly StoredEvent[] | undefined> {
  const types = contentTypesOf(data);
  if (types.length === 0) return undefined;
  const streams = new Set(types.map((type) => documentStream(space, type, documentId)));
  const found: StoredEvent[] = [];
  for (const stream of streams) for await (const event of log.readStream(stream)) found.push(event);
  if (found.length === 0) return undefined;
  return found.sort((a, b) => Number(a.position - b.position));
}

/** Returns the uids of the content types; none if there is no graph. */
function contentTypesOf(data: string): readonly string[] {
  const file = liveGraphFile(data);
  if (!existsSync(file)) return [];
  const { connection, close } = lookAtDatabase(file);
  try {
    return connection
      .prepare('SELECT uid FROM definitions')
      .all()
      .map(({ uid }) => String(uid));
  } finally {
    close();
  }
}
