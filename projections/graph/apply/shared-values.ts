import type { EntryChanged, LinkTarget, RelationOperation } from '../../../shared/document/events.ts';
import type { AttributeWithComponents } from '../../../shared/schema/component-uids.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { farType } from '../store/graph-relation.ts';
import { componentList, componentUid } from '../store/present-row.ts';
import type { VersionNumber } from '../store/row-keys.ts';
import { beginEdit } from './begin-edit.ts';
import { editEntry, editRelation } from './edit-entry.ts';
import { entryValues } from './entry-values.ts';
import type { GraphContext, Moment } from './graph-context.ts';

/** Copies values and relations that all locales share to the edited rows of the document's other locales. Touches only rows that differ. */
export function copySharedEdit(
  context: GraphContext,
  entry: GraphEntry,
  data: EntryChanged['data'],
  moment: Moment,
): void {
  if (data.shared.length === 0 || !entry.view.localized) return;
  const shared = new Set(data.shared);
  for (const sibling of context.session.siblings(entry)) {
    const row = sibling.rows[sibling.view.edited];
    if (row === undefined) continue;
    const version = entry.view.edited;
    const values = differingValues(context, { entry, version }, { entry: sibling, version }, data.shared);
    const recordEdit = beginEdit(context, sibling, moment, data.shared);
    let isChanged = Object.keys(values).length > 0;
    if (isChanged) editEntry(context, sibling, row, { values, relations: [] });
    for (const operation of data.relations) {
      if (!shared.has(operation.attribute)) continue;
      const localOperation = operationInLocale(context, sibling, operation);
      if (editRelation(context, sibling, localOperation)) isChanged = true;
    }
    recordEdit();
    if (!isChanged) continue;
    row.updatedAt = moment.at;
    sibling.sharedEdited = moment.position;
    sibling.isNoted = true;
    context.session.touch(sibling, sibling.view.edited);
  }
}

export type RowOfEntry = { readonly entry: GraphEntry; readonly version: VersionNumber };

/** Returns the named values of `wanted` that `found` does not have, in the form of an event. */
export function differingValues(
  context: GraphContext,
  wanted: RowOfEntry,
  found: RowOfEntry,
  names: readonly string[],
): Record<string, unknown> {
  const [wantedValues, foundValues] = [wanted, found].map(({ entry, version }) =>
    entryValues(context, entry, version, entry.rows[version]?.values ?? {}),
  );
  const { locale, view } = found.entry;
  const differing: Record<string, unknown> = {};
  for (const name of names) {
    const attribute = view.type.attributes.get(name);
    if (attribute === undefined || attribute.kind === 'relation') continue;
    const [value, theirs] = [wantedValues?.[name] ?? null, foundValues?.[name] ?? null].map((each) =>
      attribute.kind === 'scalar' ? each : inLocale(context.schema.registry, attribute, each, locale),
    );
    if (JSON.stringify(value) !== JSON.stringify(theirs)) differing[name] = value;
  }
  return differing;
}

/** Returns the value of a component attribute for another locale: without ids, and with links to localized types in that locale. */
function inLocale(
  registry: SchemaRegistry,
  attribute: AttributeWithComponents,
  value: unknown,
  locale: string | null,
): unknown {
  if (value === null) return null;
  const components = componentList(value).map((component) => {
    const { id: _id, ...copy } = component as Record<string, unknown>;
    const model = registry.components.get(componentUid(attribute, component));
    for (const inner of model?.attributes.values() ?? []) {
      const given = copy[inner.name];
      if (given === null || given === undefined || inner.kind === 'scalar') continue;
      copy[inner.name] =
        inner.kind === 'relation'
          ? targetsInLocale(registry, inner.target, given as readonly LinkTarget[], locale)
          : inLocale(registry, inner, given, locale);
    }
    return copy;
  });
  return Array.isArray(value) ? components : components[0];
}

function targetsInLocale(
  registry: SchemaRegistry,
  type: Uid,
  targets: readonly LinkTarget[],
  locale: string | null,
): readonly LinkTarget[] {
  if (registry.contentTypes.get(type)?.localized !== true) return targets;
  return targets.map(({ documentId }) => ({ documentId, locale }));
}

/** Returns an operation for another locale of the document. If the type of its targets is localized, they are those of that locale. */
export function operationInLocale(
  { schema }: Pick<GraphContext, 'schema'>,
  sibling: Pick<GraphEntry, 'view' | 'locale'>,
  operation: RelationOperation,
): RelationOperation {
  const far = farType(sibling.view.relation(operation.attribute));
  const local = (targets: readonly LinkTarget[]) =>
    targetsInLocale(schema.registry, far, targets, sibling.locale);
  if (operation.kind === 'set') return { ...operation, targets: local(operation.targets) };
  const isLocalized = schema.registry.contentTypes.get(far)?.localized === true;
  return {
    ...operation,
    disconnect: local(operation.disconnect),
    connect: operation.connect.map(({ target, place }) => ({
      target: local([target])[0] as LinkTarget,
      place: 'documentId' in place && isLocalized ? { ...place, locale: sibling.locale } : place,
    })),
  };
}
