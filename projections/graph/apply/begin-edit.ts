import { changedParts, componentParts } from '../../journal/component-parts.ts';
import { recordWritten } from '../../journal/record-changes.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { EntryEdit } from './edit-entry.ts';
import { entryValues } from './entry-values.ts';
import type { GraphContext, Moment } from './graph-context.ts';

/**
 * Records that an edit writes the row that is edited. The returned function must be called after the edit: for attributes with components
 * the journal names only the paths that differ.
 */
export function beginEdit(
  context: GraphContext,
  entry: GraphEntry,
  moment: Moment,
  names: Iterable<string>,
): () => void {
  const { edited: version, type, bearers } = entry.view;
  if (entry.rows[version] === undefined) {
    recordWritten(context, moment, entry, { version, changed: 'all' });
    return () => undefined;
  }
  const changed = new Set(names);
  const inside = bearers.filter(({ name }) => changed.delete(name));
  const readParts = () => {
    const stored = entry.rows[version]?.values ?? {};
    const values = Object.fromEntries(inside.map(({ name }) => [name, stored[name]]));
    return componentParts(context.schema.registry, type, entryValues(context, entry, version, values));
  };
  const before = inside.length === 0 ? undefined : readParts();
  return () => {
    if (before !== undefined) for (const path of changedParts(before, readParts())) changed.add(path);
    recordWritten(context, moment, entry, { version, changed });
  };
}

/** Returns the names of the attributes that an edit writes. */
export function namesOfEdit({ values, relations }: EntryEdit): readonly string[] {
  return [...Object.keys(values), ...relations.map(({ attribute }) => attribute)];
}
