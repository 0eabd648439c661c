import type { Hop } from '../../../shared/read-index/document-index.ts';
import type { Attribute, Model, Uid } from '../../../shared/schema/content-type.ts';
import { componentOf, contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { isContentType, localizationsAttribute } from '../../../shared/schema/system-attributes.ts';
import type { GraphRelation } from '../store/graph-relation.ts';
import { UNVERSIONED, type WorldNumber } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';

/** A hop as the graph stores it: along a relation's links, against them, or between the locales of a document. */
export type LinkStep =
  | { readonly kind: 'along' | 'against'; readonly relation: GraphRelation; readonly to: Uid }
  | { readonly kind: 'locales'; readonly to: Uid };

/** Throws for an attribute that is not a relation: dependencies are computed from the same content types. */
export function linkStep(schema: SchemaView, { rowSet, attribute }: Hop): LinkStep {
  const { registry } = schema;
  let model: Model = contentTypeOf(registry, rowSet.type);
  for (const step of rowSet.path) {
    const below: Attribute | undefined = model.attributes.get(step.attribute);
    model = componentOf(registry, step.zoneComponent ?? componentUid(below, rowSet.type));
  }
  const definition = model.attributes.get(attribute);
  if (definition?.kind === 'relation') {
    const { target: to, mappedBy } = definition;
    return mappedBy === undefined
      ? { kind: 'along', relation: schema.relation(rowSet, attribute), to }
      : { kind: 'against', relation: schema.relation({ type: to, path: [] }, mappedBy), to };
  }
  if (isContentType(model) && localizationsAttribute(model)?.name === attribute) {
    return { kind: 'locales', to: rowSet.type };
  }
  throw new Error(`${rowSet.type} has no relation ${attribute}`);
}

function componentUid(attribute: Attribute | undefined, type: Uid): Uid {
  if (attribute?.kind === 'component') return attribute.component;
  throw new Error(`${type} has no such component`);
}

/**
 * Returns SQL for the keys of rows of `root` from which `steps` lead, along the links of a world, to one of some entries. Its parameter is
 * the JSON list of these entries. Links of missing rows count, because an additional row is harmless and a missing one is not.
 */
export function walkBack(
  schema: SchemaView,
  root: Uid,
  steps: readonly LinkStep[],
  world: WorldNumber,
): string {
  const tables = ['json_each(?) known'];
  const conditions: string[] = [];
  let here = 'known.value';
  for (const [at, step] of steps.toReversed().entries()) {
    const table = stepTable(step, `s${at}`, here, world);
    tables.push(...table.tables);
    conditions.push(table.condition);
    here = table.far;
  }
  const version = schema.type(root).draftAndPublish ? world : UNVERSIONED;
  // CROSS JOIN makes SQLite use the written order: from the entries that are known.
  return `SELECT DISTINCT ${here} * 4 + ${version} AS key FROM ${tables.join(' CROSS JOIN ')} WHERE ${conditions.join(' AND ')}`;
}

function stepTable(step: LinkStep, name: string, here: string, world: WorldNumber) {
  if (step.kind === 'locales') {
    const [one, other] = [`${name}a`, `${name}b`];
    return {
      tables: [`entries ${one}`, `entries ${other}`],
      condition: `${one}.id = ${here} AND ${other}.document_id = ${one}.document_id AND ${other}.type = ${one}.type AND ${other}.id <> ${one}.id`,
      far: `${other}.id`,
    };
  }
  const [near, far] = step.kind === 'along' ? ['target', 'source'] : ['source', 'target'];
  const inWorld = world === 0 ? 'draft_source_order' : 'published_source_order';
  return {
    tables: [`links ${name}`],
    condition: `${name}.${near} = ${here} AND ${name}.relation = ${step.relation.id} AND ${name}.${inWorld} IS NOT NULL`,
    far: `${name}.${far}`,
  };
}
