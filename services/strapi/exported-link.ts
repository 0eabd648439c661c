import { defined } from '../../shared/defined.ts';
import type { LinkChange } from '../../shared/read-index/read-index.ts';
import { FILE_TYPE, type Model, type RelationAttribute, type Uid } from '../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Type and id of a row. Links name a row by its key in the graph. */
export type KnownRow = { readonly type: Uid; readonly id: number };

/** Returns a line of `links/`; undefined if an end is missing, or if the draft world has the same link. */
export function exportedLink(
  registry: SchemaRegistry,
  rows: ReadonlyMap<number, KnownRow>,
  { rowSet, attribute, source, target, order, world }: LinkChange,
): object | undefined {
  const owner = ownerOf(registry, rowSet);
  const definition = owner.attributes.get(attribute);
  const left = rowSet.path.length === 0 ? rows.get(source) : { type: owner.uid, id: source };
  const right = rows.get(target);
  if (definition?.kind !== 'relation' || order === null || left === undefined || right === undefined)
    return undefined;
  if (world === 'published' && isInBothWorlds(registry, rowSet.type, definition.target)) return undefined;
  const { sourceOrder, targetOrder } = order;
  if (definition.target === FILE_TYPE && definition.media !== undefined) {
    return {
      kind: 'relation.morph',
      relation: 'morphToMany',
      left: { type: FILE_TYPE, ref: right.id, field: 'related' },
      right: { type: left.type, ref: left.id, field: attribute, pos: sourceOrder },
    };
  }
  return {
    kind: left.type === right.type ? 'relation.circular' : 'relation.basic',
    relation: definition.relation,
    left: { type: left.type, field: attribute, ref: left.id, ...position(definition.toMany, sourceOrder) },
    right: {
      type: right.type,
      ref: right.id,
      ...defined({ field: definition.inversedBy }),
      ...position(showsList(registry, definition), targetOrder),
    },
  };
}

/** Returns whether both worlds have the same link, because no end has versions. */
function isInBothWorlds(registry: SchemaRegistry, ...types: readonly Uid[]): boolean {
  return types.every((type) => !contentTypeOf(registry, type).draftAndPublish);
}

function position(isList: boolean, order: number): object {
  return isList ? { pos: order } : {};
}

/** Returns whether the other side of a relation shows a list. */
export function showsList(registry: SchemaRegistry, { target, inversedBy }: RelationAttribute): boolean {
  if (inversedBy === undefined) return false;
  const inverse = contentTypeOf(registry, target).attributes.get(inversedBy);
  return inverse?.kind === 'relation' && inverse.toMany;
}

function ownerOf(registry: SchemaRegistry, { type, path }: LinkChange['rowSet']): Model {
  let model: Model = contentTypeOf(registry, type);
  for (const { attribute, zoneComponent } of path) {
    const definition = model.attributes.get(attribute);
    const uid = zoneComponent ?? (definition?.kind === 'component' ? definition.component : '');
    model = componentOf(registry, uid);
  }
  return model;
}
