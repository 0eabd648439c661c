import type { Uid } from '../../../shared/schema/content-type.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { componentKeys } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { removeLinks } from '../store/link-store.ts';
import { BOTH_WORLDS, versionOfKey } from '../store/row-keys.ts';
import { changeOf } from './change-of.ts';
import { type ComponentTargets, readComponentTargets, withTargets } from './component-targets.ts';
import { convertValues, type ModelChange, type ValueNote } from './convert-values.ts';
import { lostRelations } from './lost-relations.ts';

/** A definition, and the one that it replaces. */
export type Redefinition = { readonly before: TypeDefinition; readonly now: TypeDefinition };

/** A change of a content type, with the data that the conversion of each entry needs. */
export type EntryConversion = Redefinition & {
  readonly change: ModelChange;
  readonly targets: ComponentTargets;
  /** Relations of components whose links are lost, by component. */
  readonly lostInside: ReadonlyMap<Uid, readonly string[]>;
};

/** Prepares the conversion of entries, before anything of the type is converted. */
export function prepareConversion(context: GraphContext, redefinition: Redefinition): EntryConversion {
  const { before, now } = redefinition;
  const change = changeOf(before, now);
  const lost = lostRelations(now.uid, change).filter(({ model }) => model !== now.uid);
  return {
    before,
    now,
    change,
    targets: readComponentTargets(context, now.uid, change.before),
    lostInside: new Map(
      lost.map(({ model }) => [
        model,
        lost.filter((each) => each.model === model).map((each) => each.attribute),
      ]),
    ),
  };
}

/** Converts the values of an entry's rows. Values that the new definition cannot show are kept. */
export function convertEntry(context: GraphContext, entry: GraphEntry, conversion: EntryConversion): void {
  const { change } = conversion;
  const { session, links } = context;
  const ids = [new Set<string>(), new Set<string>()] as const;
  for (const row of entry.rows) {
    if (row === undefined) continue;
    const components = [...componentKeys(change.before.registry, change.before.model, row.values)];
    for (const id of components) ids[0].add(id);
    keepLostLinks(context, { entry, row }, conversion, components);
    row.uniqueValues = new Map();
    row.values = convertValues(change, row.values, (note) =>
      keepLostValue(context, { entry, row }, conversion, note),
    );
    for (const id of componentKeys(change.now.registry, change.now.model, row.values)) ids[1].add(id);
    session.touch(entry, versionOfKey(row.key));
  }
  if (ids[0].size === ids[1].size) return;
  const removed = links
    .ownedBy(entry.id)
    .filter(
      ({ component, relation }) => component !== 0 && !ids[1].has(`${relation.component} ${component}`),
    );
  removeLinks(links, removed, BOTH_WORLDS);
}

type RowOfEntry = { readonly entry: GraphEntry; readonly row: GraphRow };

function keepLostValue(
  { keptValues }: GraphContext,
  { entry, row }: RowOfEntry,
  { before, change, targets }: EntryConversion,
  { outcome, owner, model, attribute, value }: ValueNote,
): void {
  if (outcome !== 'lost') return;
  const { registry } = change.before;
  const definition = (owner === '' ? change.before.model : registry.components.get(model))?.attributes.get(
    attribute,
  );
  if (definition === undefined || definition.kind === 'relation') return;
  const at = { entry: entry.id, version: versionOfKey(row.key) };
  const data =
    definition.kind === 'scalar'
      ? value
      : withTargets(change.before, definition, value, (component, name) => targets(at, component, name));
  // A list that has lost a part before has the earlier parts too.
  keptValues.keep({ ...at, owner, attribute, definition: before, data }, definition.kind === 'scalar');
}

function keepLostLinks(
  { keptValues }: GraphContext,
  { entry, row }: RowOfEntry,
  { before, targets, lostInside }: EntryConversion,
  components: readonly string[],
): void {
  if (lostInside.size === 0) return;
  const at = { entry: entry.id, version: versionOfKey(row.key) };
  for (const owner of components) {
    const [uid = ''] = owner.split(' ');
    for (const attribute of lostInside.get(uid) ?? []) {
      const data = targets(at, owner, attribute);
      if (data.length > 0) keptValues.keep({ ...at, owner, attribute, definition: before, data }, true);
    }
  }
}
