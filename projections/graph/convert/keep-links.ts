import type { RelationAttribute, Uid } from '../../../shared/schema/content-type.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { type GraphRelation, relationName } from '../store/graph-relation.ts';
import { type LinkRecord, linksOfRelation, newLink, reportLinks } from '../store/link-store.ts';
import { BOTH_WORLDS } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import { type ModelChange, renamedFrom } from './convert-values.ts';

/**
 * Removes links of relations that are no longer defined, or lead to another content type, from the links in force. Links that entries own
 * themselves are kept; those of components are part of kept values. A relation of another type is not defined only until its own definition
 * follows: its links stay until then. A change of content types is rare enough to look at all links.
 */
export function keepUndefinedLinks(context: GraphContext, before: SchemaView, type: Uid): void {
  const { db, changes, schema, keptLinks } = context;
  for (const [number] of db.all('SELECT DISTINCT relation FROM links')) {
    const relation = number as number;
    const known = before.relationOfNumber(relation);
    const now = schema.relationOfNumber(relation);
    if (now !== undefined && (known === undefined || known.target === now.target)) continue;
    if (known !== undefined && changes.isListening)
      reportLinks(changes, linksOfRelation(db, known), BOTH_WORLDS, 'removed');
    if (typeOfRelation(db, relation) !== type) continue;
    keptLinks.keep(relation);
    db.run('DELETE FROM links WHERE relation = ?', relation);
  }
}

function typeOfRelation(db: GraphContext['db'], relation: number): Uid {
  const [name] = db.get('SELECT name FROM names WHERE id = ?', relation) ?? ['[""]'];
  const [type] = JSON.parse(String(name)) as [Uid];
  return type;
}

/** Brings back the kept links of a type's relations. */
export function restoreLinks(context: GraphContext, type: Uid, change: ModelChange): void {
  const { keptLinks, links, names, schema } = context;
  for (const attribute of change.now.model.attributes.values()) {
    if (attribute.kind !== 'relation' || attribute.mappedBy !== undefined) continue;
    const relation = schema.relationOfNumber(names.number(relationName(type, [], attribute.name)));
    if (relation === undefined) continue;
    for (const name of earlierNames(attribute, change)) {
      const number = names.number(relationName(type, [], name));
      const taken = keptLinks.take(number, relation.targetType).map(({ source, target, orders }) => {
        const record = newLink(relation, source, 0, target);
        [record.orders[0], record.orders[1]] = orders;
        return record;
      });
      removeDoubles(relation, taken);
      for (const record of taken) links.save(record);
    }
  }
  context.flush();
}

/** Keeps only the newest link at each single end. A publication meanwhile may have copied another link to its world. */
function removeDoubles({ toOne, exclusive }: GraphRelation, records: readonly LinkRecord[]): void {
  const newest = [...records].reverse();
  for (const world of BOTH_WORLDS) {
    const order = (record: LinkRecord) => record.orders[world]?.sourceOrder ?? Number.NEGATIVE_INFINITY;
    newest.sort((a, b) => order(b) - order(a));
    const taken = new Set<string>();
    for (const record of newest) {
      if (record.orders[world] === null) continue;
      const ends = [
        ...(toOne ? [`source ${record.source}`] : []),
        ...(exclusive ? [`target ${record.target}`] : []),
      ];
      if (ends.some((end) => taken.has(end))) record.orders[world] = null;
      else for (const end of ends) taken.add(end);
    }
  }
}

/** Returns the names under which links of an attribute may be kept: its own, and the one from which it was renamed just now. */
function earlierNames(attribute: RelationAttribute, { before, now }: ModelChange): readonly string[] {
  const earlier = renamedFrom(attribute);
  const isNew = !before.model.attributes.has(attribute.name);
  const wasRenamed = earlier !== undefined && isNew && !now.model.attributes.has(earlier);
  return wasRenamed ? [attribute.name, earlier] : [attribute.name];
}
