import { componentStep } from '../../../shared/read-index/component-step.ts';
import type { ComponentStep } from '../../../shared/read-index/read-index.ts';
import { allowedComponents } from '../../../shared/schema/component-uids.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { relationName } from '../store/graph-relation.ts';
import { linksOfRelation, reportLinks } from '../store/link-store.ts';
import { BOTH_WORLDS } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import { componentChange, type ModelChange, originOf } from './convert-values.ts';

/** Names of a relation in the graph (see `relationName`), before and now. */
type Renamed = { readonly from: string; readonly to: string };

/** Renames relations of links, and the component attributes that contain them. */
export function renameRelations(
  context: GraphContext,
  type: Uid,
  change: ModelChange,
  before: SchemaView,
): void {
  for (const { from, to } of renamedRelations(type, change, [], [])) {
    const [old, now] = [context.names.number(from), context.names.number(to)];
    report(context, before, old, 'removed');
    for (const table of ['links', 'pending_edits']) {
      context.db.run(`UPDATE ${table} SET relation = ? WHERE relation = ?`, now, old);
    }
    report(context, context.schema, now, 'there');
    context.pending.reload();
  }
}

function report(
  { db, changes }: GraphContext,
  schema: SchemaView,
  number: number,
  as: 'there' | 'removed',
): void {
  const relation = schema.relationOfNumber(number);
  if (relation === undefined || !changes.isListening) return;
  reportLinks(changes, linksOfRelation(db, relation), BOTH_WORLDS, as);
}

/** Yields the relations of a type or its components whose name changes with the type. */
function* renamedRelations(
  type: Uid,
  change: ModelChange,
  pathBefore: readonly ComponentStep[],
  path: readonly ComponentStep[],
): Iterable<Renamed> {
  for (const attribute of change.now.model.attributes.values()) {
    const origin = originOf(attribute, change);
    if (origin === undefined) continue;
    if (attribute.kind === 'relation') {
      if (origin.kind !== 'relation' || attribute.mappedBy !== undefined) continue;
      const [from, to] = [
        relationName(type, pathBefore, origin.name),
        relationName(type, path, attribute.name),
      ];
      if (from !== to) yield { from, to };
    } else {
      for (const uid of allowedComponents(attribute)) {
        const inner = componentChange(change, uid);
        if (inner === undefined) continue;
        const before = [...pathBefore, componentStep({ kind: attribute.kind, name: origin.name }, uid)];
        const now = [...path, componentStep(attribute, uid)];
        yield* renamedRelations(type, inner, before, now);
      }
    }
  }
}
