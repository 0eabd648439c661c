import { attributesWithComponents } from '../../../shared/schema/component-uids.ts';
import { storeValues } from '../apply/edit-entry.ts';
import { entryValues } from '../apply/entry-values.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { componentKeys, mapComponents } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { isOfAttribute, type KeptValues, type StoredKeptValue } from '../store/kept-values.ts';
import type { Values } from '../store/present-row.ts';
import { type VersionNumber, versionOfKey } from '../store/row-keys.ts';
import { changeOf } from './change-of.ts';
import { mapTargets } from './component-targets.ts';
import type { EntryConversion } from './convert-entry.ts';
import { componentChange, convertValues, type ModelChange } from './convert-values.ts';
import { weightOf } from './weight-of.ts';

/** Brings back the kept values of an entry that its definition shows again. */
export function restoreValues(
  context: GraphContext,
  entry: GraphEntry,
  conversion: Pick<EntryConversion, 'now'>,
): void {
  const kept = context.keptValues.of(entry.id).filter(isOfAttribute);
  if (kept.length === 0) return;
  for (const row of [...entry.rows]) {
    if (row === undefined) continue;
    const version = versionOfKey(row.key);
    const own = kept.filter((each) => each.version === version);
    if (own.length === 0) continue;
    const restored = restoredValues(context, { entry, version, values: row.values }, own, conversion);
    if (Object.keys(restored).length === 0) continue;
    row.values = {
      ...row.values,
      ...storeValues(context, entry, { version, isKept: isFree(context, entry, version) }, restored),
    };
    context.session.touch(entry, version);
  }
}

/** Returns whether no other row of the entry has a component. Then it gets its id back. */
export function isFree({ schema }: GraphContext, entry: GraphEntry, version: VersionNumber) {
  const { registry } = schema;
  const others = entry.rows.filter((row) => row !== undefined && versionOfKey(row.key) !== version);
  const taken = new Set(
    others.flatMap((row) => [...componentKeys(registry, entry.view.type, row?.values ?? {})]),
  );
  return (uid: string, id: number): boolean => !taken.has(`${uid} ${id}`);
}

type RowValues = { readonly entry: GraphEntry; readonly version: VersionNumber; readonly values: Values };

/** Returns attributes whose values come back, as events give them. Forgets the kept values that came back completely. */
function restoredValues(
  context: GraphContext,
  { entry, version, values }: RowValues,
  kept: readonly StoredKeptValue[],
  { now }: Pick<EntryConversion, 'now'>,
): Values {
  const restored: Record<string, unknown> = {};
  const shown: Record<string, unknown> = { ...entryValues(context, entry, version, values) };
  for (const each of kept.filter(({ owner }) => owner === '')) {
    const change = changeOf(each.definition, now);
    for (const [name, value] of Object.entries(restore(context, each, change))) {
      if (weightOf(value) <= weightOf(shown[name])) continue;
      restored[name] = namedTargets(context, change, name, value);
      shown[name] = restored[name];
    }
  }
  const inner = kept.filter(({ owner }) => owner !== '');
  if (inner.length === 0) return restored;
  for (const bearer of attributesWithComponents(entry.view.type)) {
    const { patch, isChanged } = createPatch(context, inner, now);
    const value = mapComponents(context.schema.registry, bearer, shown[bearer.name], patch);
    if (!isChanged()) continue;
    const change = changeOf(now, now);
    restored[bearer.name] = namedTargets(context, change, bearer.name, value);
  }
  return restored;
}

/** Converts a kept value to the definition in force. Forgets it if all of it can be shown. */
function restore({ keptValues }: GraphContext, kept: StoredKeptValue, change: ModelChange): Values {
  let isWhole = true;
  const { attribute } = kept;
  const data = withoutDeleted(keptValues, kept, change, { [attribute]: kept.data });
  const values = convertValues(change, data, ({ outcome }) => {
    if (outcome === 'lost') isWhole = false;
  });
  if (isWhole) keptValues.forget(kept);
  return values;
}

/** Removes links to entries that were deleted while the values were kept. */
export function withoutDeleted(
  keptValues: KeptValues,
  kept: StoredKeptValue,
  { before: { registry, model } }: ModelChange,
  values: Values,
): Values {
  const isThere = (target: unknown) => !keptValues.isDeletedSince(kept, target as number);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      mapTargets({ registry }, model.attributes.get(name), value, (targets) => targets.filter(isThere)),
    ]),
  );
}

/** Creates a function that completes components by the kept values inside them. */
function createPatch(context: GraphContext, kept: readonly StoredKeptValue[], now: EntryConversion['now']) {
  let isChanged = false;
  return {
    isChanged: () => isChanged,
    patch<Component extends { readonly id: number } & Values>(component: Component, uid: string): Component {
      const completed: Record<string, unknown> = { ...component };
      for (const each of kept.filter(({ owner }) => owner === `${uid} ${component.id}`)) {
        const change = componentChange(changeOf(each.definition, now), uid);
        if (change === undefined) continue;
        for (const [name, value] of Object.entries(restore(context, each, change))) {
          if (weightOf(value) <= weightOf(completed[name])) continue;
          completed[name] = value;
          isChanged = true;
        }
      }
      return completed as Component;
    },
  };
}

/** Replaces the numbers of linked entries inside an attribute by their names. */
export function namedTargets(
  { names }: GraphContext,
  { now }: ModelChange,
  attribute: string,
  value: unknown,
): unknown {
  return mapTargets(now, now.model.attributes.get(attribute), value, (targets) =>
    targets.map((each) => (typeof each === 'number' ? names.target(each) : each)),
  );
}
