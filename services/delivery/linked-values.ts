import { addToList, valueAt } from '../../shared/map-values.ts';
import type { ChangeBatch, LocalRows, RowSet, World } from '../../shared/read-index/read-index.ts';
import type { ContentType, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { identifyingFields, type NarrowingRelation, narrowingRelations, narrows } from './narrowing.ts';
import type { SourceValues } from './read-source.ts';
import type { Equality } from './tag.ts';

/** Returns the values of a row before a batch and after it. */
export type ValuesAt = (rowSet: RowSet, world: World, key: number) => readonly SourceValues[];

type Linked = Pick<LocalRows, 'linkedAt'> & { readonly registry: SchemaRegistry };

/**
 * Returns values of the rows that a row is linked to, before and after a batch. A value such as `city.slug` may narrow a list of the row's
 * type. `key`: the key of a row, or of a component in it.
 */
export type LinkedValues = (
  type: ContentType,
  rowSet: RowSet,
  world: World,
  key: number,
) => readonly Equality[];

/** Creates the look-up for one batch. `valuesAt`: the values of a row before the batch and after it. */
export function createLinkedValues(
  { registry, linkedAt }: Linked,
  batch: ChangeBatch,
  valuesAt: ValuesAt,
): LinkedValues {
  const added = new Map<string, number[]>();
  for (const { rowSet, attribute, world, source, target, order } of batch.links) {
    if (order === null || rowSet.path.length > 0) continue;
    addToList(added, linkName(rowSet.type, attribute, world, source), target);
  }
  const known = new Map<string, readonly Equality[]>();
  const valuesOf = (relation: NarrowingRelation, world: World, target: number) =>
    valueAt(known, linkName(relation.target.uid, relation.attribute, world, target), () =>
      targetValues(relation, valuesAt({ type: relation.target.uid, path: [] }, world, target)),
    );
  return (type, rowSet, world, key) =>
    narrowingRelations(registry, type).flatMap((relation) => {
      const { attribute } = relation;
      const linked = linkedAt(rowSet, key, { world, attribute });
      const row = linked?.row ?? key;
      const now = added.get(linkName(type.uid, attribute, world, row)) ?? [];
      const targets = new Set([...(linked?.targets ?? []), ...now]);
      return [...targets].flatMap((target) => valuesOf(relation, world, target));
    });
}

/** Returns the values of a relation's target, as fields of the rows that link to it. */
export function targetValues(
  { attribute, target }: NarrowingRelation,
  rows: readonly SourceValues[],
): readonly Equality[] {
  return identifyingFields(target).flatMap((field) => {
    const values = new Set(rows.map((row) => row[field]).filter(narrows));
    return [...values].map((value) => ({ field: `${attribute}.${field}`, value }));
  });
}

function linkName(type: Uid, attribute: string, world: World, key: number): string {
  return `${type} ${attribute} ${world} ${key}`;
}
