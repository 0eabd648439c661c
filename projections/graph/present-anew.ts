import { fieldTypeOf } from '../../shared/read-index/column.ts';
import type { Attribute, ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { componentList, type Values } from '../present-row.ts';
import { hasOtherVersions, joinVersions, splitVersions } from './convert-versions.ts';
import type { GraphContext, Moment } from './graph-context.ts';
import { linksOfRelation } from './link-store.ts';
import { versionOfKey } from './row-keys.ts';
import type { SchemaView } from './type-view.ts';

/**
 * Brings the rows of changed content types to their new definitions: values of attributes that are gone or of another kind now
 * are dropped, private and unique ones are sorted out anew, links of relations that are no longer defined go, and rows follow
 * draft & publish when it was switched.
 */
export function presentAnew(
  context: GraphContext,
  changed: Iterable<string>,
  before: SchemaView,
  moment: Moment,
): void {
  const { db, schema, session } = context;
  for (const uid of changed) {
    const view = schema.type(uid);
    const typeBefore = before.type(uid).type;
    for (const { number } of view.unique) db.run('DELETE FROM unique_values WHERE attribute = ?', number);
    for (const entry of session.entriesOfType(view)) {
      for (const row of entry.rows) {
        if (row === undefined) continue;
        row.uniqueValues = new Map();
        row.values = remainingValues(schema.registry, typeBefore, view.type, row.values);
        session.touch(entry, versionOfKey(row.key));
      }
      if (!hasOtherVersions(entry)) continue;
      if (view.draftAndPublish) splitVersions(context, entry, moment);
      else joinVersions(context, entry);
    }
  }
  removeUndefinedLinks(context, before);
}

function remainingValues(
  registry: SchemaRegistry,
  before: ContentType,
  now: ContentType,
  values: Values,
): Values {
  const remaining: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const attribute = now.attributes.get(name);
    if (attribute === undefined || !isSameKind(before.attributes.get(name), attribute)) continue;
    remaining[name] =
      attribute.kind === 'dynamiczone'
        ? componentList(value).filter(({ __component: uid = '' }) => registry.components.has(uid))
        : value;
  }
  return remaining;
}

/** Whether a stored value still has the form that the attribute's definition gives it. */
function isSameKind(before: Attribute | undefined, now: Attribute): boolean {
  if (before === undefined || before.kind !== now.kind) return false;
  if (before.kind === 'scalar' && now.kind === 'scalar')
    return fieldTypeOf(before.type) === fieldTypeOf(now.type);
  if (before.kind === 'component' && now.kind === 'component') {
    return before.component === now.component && before.repeatable === now.repeatable;
  }
  return true;
}

/** A change of the content types is rare enough to look at every link. */
function removeUndefinedLinks({ db, schema, changes }: GraphContext, before: SchemaView): void {
  for (const [number] of db.all('SELECT DISTINCT relation FROM links')) {
    const known = before.relationOfNumber(number as number);
    const now = schema.relationOfNumber(number as number);
    if (known === undefined || known.target === now?.target) continue;
    for (const record of linksOfRelation(db, known)) {
      for (const world of [0, 1] as const)
        if (record.orders[world] !== null) changes.link(record, world, null);
    }
    db.run('DELETE FROM links WHERE relation = ?', known.id);
    db.run('DELETE FROM pending_edits WHERE relation = ?', known.id);
  }
}
