import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { storeValues } from '../apply/edit-entry.ts';
import { entryValues } from '../apply/entry-values.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { addRow, dropRow, showLinks } from '../apply/row-lifecycle.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRow } from '../store/graph-row.ts';
import type { KeptValue, StoredKeptValue } from '../store/kept-values.ts';
import { removeLinks } from '../store/link-store.ts';
import type { Values } from '../store/present-row.ts';
import { type VersionNumber, worldsOf } from '../store/row-keys.ts';
import { changeOf } from './change-of.ts';
import { convertValues } from './convert-values.ts';
import { isFree, namedTargets, restoreValues, withoutDeleted } from './restore-values.ts';

/** A row that its type does not show, as the graph keeps it. */
export type KeptRow = {
  readonly facts: Omit<GraphRow, 'key' | 'values' | 'uniqueValues'>;
  readonly values: Values;
};

/**
 * Keeps a row that the type does not show any more, and removes it. The links that the entry owns, and those to it, stay. Those inside its
 * components are part of its values. `more`: further facts.
 */
export function keepRow(
  context: GraphContext,
  entry: GraphEntry,
  { version, attribute, definition, more }: RowToKeep,
): void {
  const row = entry.rows[version];
  if (row === undefined) return;
  const { key: _key, values: stored, uniqueValues: _unique, ...facts } = row;
  const numbers = { ...context, names: { target: (number: number) => number } };
  const data = { facts, values: entryValues(numbers, entry, version, stored), ...more };
  context.keptValues.keep({ entry: entry.id, version, owner: '', attribute, definition, data }, true);
  const inside = context.links.ownedBy(entry.id).filter(({ component }) => component !== 0);
  dropRow(context, entry, version);
  removeLinks(context.links, inside, worldsOf(version));
}

type RowToKeep = Pick<KeptValue, 'attribute' | 'definition'> & {
  readonly version: VersionNumber;
  readonly more?: { readonly [fact: string]: unknown };
};

/** Brings a kept row back, under the definition in force. Values that it cannot show stay kept. */
export function restoreRow(
  context: GraphContext,
  entry: GraphEntry,
  kept: StoredKeptValue,
  now: TypeDefinition,
): void {
  const { version, definition } = kept;
  const { facts, values } = kept.data as KeptRow;
  const { keptValues, ids, session } = context;
  keptValues.markRestored(kept);
  const change = changeOf(definition, now);
  const there = withoutDeleted(keptValues, kept, change, values);
  const converted = convertValues(change, there, ({ outcome, owner, attribute, value }) => {
    if (outcome === 'lost')
      keptValues.keep({ entry: entry.id, version, owner, attribute, definition, data: value }, true);
  });
  const named = Object.entries(converted).map(([name, value]) => [
    name,
    namedTargets(context, change, name, value),
  ]);
  const row = addRow(context, entry, version, { ...facts, values: {} });
  ids.give(entry.view.number, row.id, row.key);
  row.values = storeValues(
    context,
    entry,
    { version, isKept: isFree(context, entry, version) },
    Object.fromEntries(named) as Values,
  );
  showLinks(context, entry, version);
  session.touch(entry, version);
  restoreValues(context, entry, { now });
}
