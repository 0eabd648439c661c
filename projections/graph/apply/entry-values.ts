import { addToList } from '../../../shared/map-values.ts';
import { mapComponents } from '../store/component-values.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import type { LinkRecord } from '../store/link-store.ts';
import type { Values } from '../store/present-row.ts';
import { UNVERSIONED, type VersionNumber, type WorldNumber } from '../store/row-keys.ts';
import type { GraphContext } from './graph-context.ts';

/** `target`: form of a linked entry in the values. Events have its name. */
export type ValuesContext = Pick<GraphContext, 'schema' | 'links'> & {
  readonly names: { target(entry: number): unknown };
};

/** A row's values as events give them: scalars, and components with their ids and the relations inside as `LinkTarget[]`. */
export function entryValues(
  context: ValuesContext,
  entry: Pick<GraphEntry, 'id' | 'view'>,
  version: VersionNumber,
  stored: Values,
): Values {
  const filled = entry.view.bearers.filter(({ name }) => stored[name] !== undefined && stored[name] !== null);
  if (filled.length === 0) return stored;
  const targets = componentTargets(context, entry.id, version === UNVERSIONED ? 0 : version);
  const values: Record<string, unknown> = { ...stored };
  const { registry } = context.schema;
  for (const bearer of filled) {
    values[bearer.name] = mapComponents(registry, bearer, stored[bearer.name], (component, uid) => {
      const copy: Record<string, unknown> = { ...component };
      for (const attribute of registry.components.get(uid)?.attributes.values() ?? []) {
        if (attribute.kind !== 'relation' || attribute.mappedBy !== undefined) continue;
        copy[attribute.name] = targets.get(`${uid} ${component.id} ${attribute.name}`) ?? [];
      }
      return copy as typeof component;
    });
  }
  return values;
}

/** Targets of an entry's component relations in one world, in order, by `<component uid> <id> <attribute>`. */
function componentTargets(
  { links, names }: Pick<ValuesContext, 'links' | 'names'>,
  entry: number,
  world: WorldNumber,
): Map<string, unknown[]> {
  const records = links
    .ownedBy(entry)
    .filter((record) => record.component !== 0 && record.orders[world] !== null)
    .sort((a, b) => sourceOrder(a, world) - sourceOrder(b, world));
  const targets = new Map<string, unknown[]>();
  for (const { relation, component, target } of records) {
    addToList(targets, `${relation.component} ${component} ${relation.attribute}`, names.target(target));
  }
  return targets;
}

function sourceOrder(record: LinkRecord, world: WorldNumber): number {
  return record.orders[world]?.sourceOrder ?? 0;
}
