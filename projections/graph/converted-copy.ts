import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { localesOfEntries } from '../../shared/document/entry.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { notInForce, type TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { copyDatabase, removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { type ContentGraph, openContentGraph } from './content-graph.ts';
import type { GraphFileOptions } from './graph-file.ts';

/** The graph's file, and that of its converted copy. */
export type CopyFiles = { readonly file: string; readonly copy: string };

/**
 * Copies a graph and converts the copy to definitions that are not in the log yet. Returns false if the graph has all of them. The copy
 * is at a later position than the graph, by one for each definition. The log passes that position with the definitions. No other process may
 * write the graph meanwhile.
 */
export function convertCopy(
  { file, copy }: CopyFiles,
  graph: ContentGraph,
  definitions: readonly TypeDefinition[],
): boolean {
  const changed = notInForce(definitions, graph.definition);
  if (changed.length === 0) return false;
  graph.settle();
  copyDatabase(file, copy);
  const converted = openContentGraph(copy, { building: true });
  try {
    defineAhead(converted, changed);
  } finally {
    converted.close();
  }
  return true;
}

/**
 * Converts a graph to definitions that come later in the log than its position, or are not in the log yet. The graph is then at a later
 * position, by one for each definition, and must not apply the log any more.
 */
export function defineAhead(graph: ContentGraph, definitions: readonly TypeDefinition[]): void {
  const type = 'content-type-defined';
  applyAhead(
    graph,
    definitions.map((data) => ({ type, stream: data.uid, data })),
  );
}

/**
 * Deletes documents from a graph as if the log had done so next: they were erased later. The graph is then at a later position, by one for each
 * entry, and must not apply the log any more.
 */
export function deleteAhead(graph: ContentGraph, documents: readonly DocumentName[]): void {
  const deletions = documents.flatMap(({ type, documentId }) =>
    localesOfEntries(graph.reader.entries(type, documentId)).map((locale) => ({
      type: 'entry-deleted',
      stream: documentStream('ahead', type, documentId),
      data: { type, documentId, locale },
    })),
  );
  applyAhead(graph, deletions);
}

/**
 * Applies events of documents to a graph as if the log had them next, with this time. The graph is then at a later position, by one for each,
 * and must not apply the log any more.
 */
export function changeAhead(graph: ContentGraph, events: readonly DocumentEvent[], at: string): void {
  const changes = events.map(({ type, data }) => ({
    type,
    stream: documentStream('ahead', data.type, data.documentId),
    data,
  }));
  applyAhead(graph, changes, at);
}

type AheadEvent = Pick<StoredEvent, 'type' | 'stream' | 'data'>;

function applyAhead(
  graph: ContentGraph,
  events: readonly AheadEvent[],
  at = new Date(0).toISOString(),
): void {
  const first = graph.position() + 1n;
  const metadata = { schemaVersion: 1, at, epoch: graph.epochAt(first) };
  graph.replay(
    events.map((event, n) => ({
      ...event,
      id: randomUUID(),
      revision: 0n,
      position: first + BigInt(n),
      metadata,
    })),
  );
  graph.settle();
}

/** Opens a copy that was converted to these definitions. Removes a copy with others, and returns undefined. */
export function openConvertedCopy(
  copy: string,
  definitions: readonly TypeDefinition[],
  options: GraphFileOptions,
): ContentGraph | undefined {
  if (!existsSync(copy)) return undefined;
  const converted = openContentGraph(copy, options);
  if (notInForce(definitions, converted.definition).length === 0) return converted;
  converted.close();
  removeDatabase(copy);
  return undefined;
}
