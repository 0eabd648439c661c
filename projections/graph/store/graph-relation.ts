import type { ComponentStep, RowSet } from '../../../shared/read-index/read-index.ts';
import type { RelationAttribute, Uid } from '../../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';

/** A relation as its owning side defines it, with the numbers its links are stored under. */
export type GraphRelation = {
  readonly id: number;
  readonly rowSet: RowSet;
  readonly attribute: string;
  /** The component that owns the relation; undefined if the content type itself owns it. */
  readonly component: Uid | undefined;
  readonly sourceDraftAndPublish: boolean;
  readonly target: Uid;
  readonly targetType: number;
  readonly targetDraftAndPublish: boolean;
  /** A source has one target at most. */
  readonly toOne: boolean;
  /** A target has one source at most: connecting it elsewhere removes its previous link (SEMANTICS section 13, "steals"). */
  readonly exclusive: boolean;
  /** False inside a private component, whose rows are in no index. */
  readonly served: boolean;
};

/** A relation attribute of a content type: the relation and the end it shows. */
export type GraphRelationSide = { readonly relation: GraphRelation; readonly side: 'owner' | 'inverse' };

/** Returns whether this end of a relation has one target at most. */
export function isToOne({ relation, side }: GraphRelationSide): boolean {
  return side === 'owner' ? relation.toOne : relation.exclusive;
}

/** Returns the content type at the other end of a relation. */
export function farType({ relation, side }: GraphRelationSide): Uid {
  return side === 'owner' ? relation.target : relation.rowSet.type;
}

/**
 * Returns the name under which the graph's file numbers a relation: JSON of type, path and attribute. If one of them is renamed, it is
 * another relation.
 */
export function relationName(type: Uid, path: readonly ComponentStep[], attribute: string): string {
  const steps = path.map((step) => [step.attribute, step.zoneComponent ?? null]);
  return JSON.stringify([type, steps, attribute]);
}

/** Creates a relation of the owning attribute. `numbers`: those of the relation and its target type in the graph's file. */
export function createGraphRelation(
  registry: SchemaRegistry,
  rowSet: RowSet,
  owner: {
    readonly component: Uid | undefined;
    readonly attribute: RelationAttribute;
    readonly served: boolean;
  },
  numbers: { readonly relation: number; readonly target: number },
): GraphRelation {
  const { attribute, component } = owner;
  const target = contentTypeOf(registry, attribute.target);
  const oneSource = attribute.relation === 'oneToOne' || attribute.relation === 'oneToMany';
  return {
    id: numbers.relation,
    rowSet,
    attribute: attribute.name,
    component,
    sourceDraftAndPublish: contentTypeOf(registry, rowSet.type).draftAndPublish,
    target: attribute.target,
    targetType: numbers.target,
    targetDraftAndPublish: target.draftAndPublish,
    toOne: !attribute.toMany,
    // A one-way relation never takes a target from another source, because the other side could not show the loss.
    exclusive: oneSource && attribute.inversedBy !== undefined && component === undefined,
    served: owner.served,
  };
}
