import { componentStep } from '../../../shared/read-index/component-step.ts';
import type { ComponentStep } from '../../../shared/read-index/read-index.ts';
import {
  type AttributeWithComponents,
  allowedComponents,
  attributesWithComponents,
} from '../../../shared/schema/component-uids.ts';
import type { Attribute, Uid } from '../../../shared/schema/content-type.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { mapComponents } from '../store/component-values.ts';
import { relationName } from '../store/graph-relation.ts';
import type { VersionNumber, WorldNumber } from '../store/row-keys.ts';
import { worldsOf } from '../store/row-keys.ts';
import type { ModelChange } from './convert-values.ts';

type Defined = ModelChange['before'];

/** Returns the entry numbers of the targets of a component's relation, in order. `component`: `<uid> <id>`. */
export type ComponentTargets = (
  row: { readonly entry: number; readonly version: VersionNumber },
  component: string,
  attribute: string,
) => readonly number[];

/** Reads the links inside the components of a type's rows, under the names that the relations have in this definition. */
export function readComponentTargets(
  { db, names }: Pick<GraphContext, 'db' | 'names'>,
  type: Uid,
  defined: Defined,
): ComponentTargets {
  const targets = new Map<string, number[]>();
  for (const { relation, component, attribute } of innerRelations(type, defined, [])) {
    for (const world of ['draft', 'published'] as const) {
      const sql = `SELECT source, component, target FROM links WHERE relation = ? AND component <> 0
        AND ${world}_source_order IS NOT NULL ORDER BY source, component, ${world}_source_order`;
      for (const [source, id, target] of db.all(sql, names.number(relation))) {
        const key = `${source} ${world === 'draft' ? 0 : 1} ${component} ${id} ${attribute}`;
        const known = targets.get(key);
        if (known === undefined) targets.set(key, [target as number]);
        else known.push(target as number);
      }
    }
  }
  return ({ entry, version }, component, attribute) => {
    const [world] = worldsOf(version) as readonly [WorldNumber];
    return targets.get(`${entry} ${world} ${component} ${attribute}`) ?? [];
  };
}

type InnerRelation = { readonly relation: string; readonly component: Uid; readonly attribute: string };

function* innerRelations(
  type: Uid,
  { registry, model }: Defined,
  path: readonly ComponentStep[],
): Iterable<InnerRelation> {
  for (const bearer of attributesWithComponents(model)) {
    for (const uid of allowedComponents(bearer)) {
      const inner = registry.components.get(uid);
      if (inner === undefined) continue;
      const within = [...path, componentStep(bearer, uid)];
      for (const { kind, name } of inner.attributes.values())
        if (kind === 'relation')
          yield { relation: relationName(type, within, name), component: uid, attribute: name };
      yield* innerRelations(type, { registry, model: inner }, within);
    }
  }
}

/** Replaces the lists of targets inside a value. `attribute`: the value's. */
export function mapTargets(
  { registry }: Pick<Defined, 'registry'>,
  attribute: Attribute | undefined,
  value: unknown,
  map: (targets: readonly unknown[]) => readonly unknown[],
): unknown {
  const mapped = (list: unknown) => map((list ?? []) as readonly unknown[]);
  if (attribute?.kind === 'relation') return mapped(value);
  if (attribute?.kind !== 'component' && attribute?.kind !== 'dynamiczone') return value;
  return mapComponents(registry, attribute, value, (component, uid) => {
    const copy: Record<string, unknown> = { ...component };
    for (const { kind, name } of registry.components.get(uid)?.attributes.values() ?? [])
      if (kind === 'relation' && copy[name] !== undefined) copy[name] = mapped(copy[name]);
    return copy as typeof component;
  });
}

/** Adds lists of targets to the components of a stored value. `targetsOf`: those of a component's relation, by `<uid> <id>`. */
export function withTargets(
  { registry }: Pick<Defined, 'registry'>,
  bearer: AttributeWithComponents,
  value: unknown,
  targetsOf: (component: string, attribute: string) => unknown,
): unknown {
  return mapComponents(registry, bearer, value, (component, uid) => {
    const copy: Record<string, unknown> = { ...component };
    for (const { kind, name } of registry.components.get(uid)?.attributes.values() ?? [])
      if (kind === 'relation') copy[name] = targetsOf(`${uid} ${component.id}`, name);
    return copy as typeof component;
  });
}
