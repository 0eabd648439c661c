import { componentStep } from '../../../shared/read-index/component-step.ts';
import type { ComponentStep } from '../../../shared/read-index/read-index.ts';
import { allowedComponents } from '../../../shared/schema/component-uids.ts';
import type { Attribute, Model, RelationAttribute, Uid } from '../../../shared/schema/content-type.ts';
import { relationName } from '../store/graph-relation.ts';
import { componentChange, type ModelChange, originOf } from './convert-values.ts';

/** A relation of an earlier definition whose links the new one does not show. */
export type LostRelation = {
  /** Name of the relation in the graph, after its owning side. */
  readonly relation: string;
  /** End of the links at which the attribute is. */
  readonly end: 'source' | 'target';
  /** Content type or component of the attribute. */
  readonly model: Uid;
  readonly attribute: string;
};

/** Returns the attributes that show the values of an earlier attribute now. */
function destinationsOf(attribute: Attribute, change: ModelChange): readonly Attribute[] {
  return [...change.now.model.attributes.values()].filter((each) => originOf(each, change) === attribute);
}

/**
 * Returns the relations of a type and of its components whose links are lost, from both ends. Relations in a lost component attribute are
 * part of its value.
 */
export function lostRelations(type: Uid, change: ModelChange): readonly LostRelation[] {
  return [...walk(type, change, [])];
}

function* walk(type: Uid, change: ModelChange, path: readonly ComponentStep[]): Iterable<LostRelation> {
  for (const attribute of change.before.model.attributes.values()) {
    const destinations = destinationsOf(attribute, change);
    if (attribute.kind === 'relation') {
      if (!destinations.some((each) => showsLinksOf(attribute, each)))
        yield lost(type, change.before.model, path, attribute);
      continue;
    }
    for (const uid of allowedComponents(attribute)) {
      const inner = componentChange(change, uid);
      const isKept = destinations.some(
        (each) => each.kind === attribute.kind && allowedComponents(each).includes(uid),
      );
      if (isKept && inner !== undefined) yield* walk(type, inner, [...path, componentStep(attribute, uid)]);
    }
  }
}

function showsLinksOf(before: RelationAttribute, now: Attribute): boolean {
  if (now.kind !== 'relation' || now.target !== before.target) return false;
  return (now.mappedBy === undefined) === (before.mappedBy === undefined);
}

function lost(
  type: Uid,
  model: Model,
  path: readonly ComponentStep[],
  { name, target, mappedBy }: RelationAttribute,
): LostRelation {
  const where = { model: model.uid, attribute: name };
  return mappedBy === undefined
    ? { ...where, relation: relationName(type, path, name), end: 'source' }
    : { ...where, relation: relationName(target, [], mappedBy), end: 'target' };
}
