import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { reportLinks } from '../store/link-store.ts';
import { rowKey, type VersionNumber, worldsOf } from '../store/row-keys.ts';
import type { GraphContext } from './graph-context.ts';

/**
 * Assigns a numeric id to a row. It is the id of an import unless another row has it. Otherwise it is the next number of the content type.
 */
export function assignId(
  { ids, sequences }: GraphContext,
  entry: GraphEntry,
  version: VersionNumber,
  given?: number,
): number {
  const { number, uid } = entry.view;
  const isFree = given !== undefined && ids.isFree(number, given);
  const id = isFree ? given : sequences.next(`id ${uid}`);
  sequences.raise(`id ${uid}`, id);
  ids.give(number, id, rowKey(entry.id, version));
  return id;
}

/** Adds a row with the id in `facts`. It replaces the entry's row of this version, if there is one. */
export function addRow(
  { session }: GraphContext,
  entry: GraphEntry,
  version: VersionNumber,
  facts: Omit<GraphRow, 'key' | 'uniqueValues'>,
): GraphRow {
  const uniqueValues = entry.rows[version]?.uniqueValues ?? new Map();
  const row = { ...facts, key: rowKey(entry.id, version), uniqueValues };
  session.addRow(entry, version, row);
  return row;
}

/** Reports the links of a row that is there again, in both directions. The graph has kept them. */
export function showLinks({ links, changes }: GraphContext, entry: GraphEntry, version: VersionNumber): void {
  // Only the index needs this, and there may be many.
  if (changes.isListening) reportLinks(changes, links.around(entry.id), worldsOf(version), 'there');
}

/** Removes the row. Reports its links to the index as removed. The graph keeps them here, because the row may return. */
export function dropRow(context: GraphContext, entry: GraphEntry, version: VersionNumber): void {
  if (entry.rows[version] === undefined) return;
  const { links, changes, session } = context;
  if (changes.isListening) reportLinks(changes, links.around(entry.id), worldsOf(version), 'removed');
  session.removeRow(entry, version);
}
