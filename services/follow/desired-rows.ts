import type { LinkTarget } from '../../shared/document/events.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import {
  type ContentType,
  type Model,
  type RelationAttribute,
  type Uid,
  USER_TYPE,
} from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type ImportedRow, importedRows } from '../strapi/archived-document.ts';
import { showsList } from '../strapi/exported-link.ts';
import type { ImportNotes } from '../strapi/import-notes.ts';
import { ROLE_TYPE } from '../strapi/stager.ts';
import type { LinkedRow } from '../strapi/staging.ts';
import { readTargets, targetKey } from './rest-row.ts';
import { type SourceRow, worldOf } from './source.ts';
import { type GraphDocument, joinTargets, storedOwned, type TargetInWorld } from './stored-document.ts';

/** Returns the slot of a link in the list of its target; undefined if the list was not read. */
export type SlotOf = (owner: SourceRow, attribute: string, target: LinkTarget) => number | undefined;

/** Returns whether a document has a row in a world. */
export type HasRow = (type: Uid, target: LinkTarget, world: World) => boolean;

export type DesiredOptions = {
  readonly registry: SchemaRegistry;
  readonly type: ContentType;
  readonly stored: GraphDocument;
  readonly slotOf: SlotOf;
  readonly hasRow: HasRow;
  readonly notes: ImportNotes;
};

/** Returns the rows of a document in the form and order of events. Values that the source does not show keep their stored state. */
export function desiredRows(options: DesiredOptions, rows: readonly SourceRow[]): readonly ImportedRow[] {
  const { registry, type, notes } = options;
  const links = new Map<string, readonly LinkedRow[]>();
  for (const row of rows) {
    links.set(`${type.uid} ${row.id}`, [...ownLinks(options, row), ...roleLink(row)]);
    for (const [name, inner] of componentLinks(registry, type, row.data)) links.set(name, inner);
  }
  const staging = {
    linksOf: (uid: string, id: number) => links.get(`${uid} ${id}`) ?? [],
    row: (uid: string, id: number) => (uid === ROLE_TYPE ? roleOf(rows, id) : undefined),
  };
  return importedRows({ registry, notes, staging }, type, rows);
}

/**
 * Returns the targets of an owner. An owner without versions usually links to both versions of an entry: this is one link here. It is a
 * link to one version if the owner omits the other version although that exists.
 */
function shownTargets(
  { type, hasRow }: DesiredOptions,
  row: SourceRow,
  { name, target, toMany }: RelationAttribute,
): readonly TargetInWorld[] | undefined {
  const lists = row.lists.get(name);
  if (lists === undefined || type.draftAndPublish) return lists?.[worldOf(row)];
  const { draft, published } = lists;
  const keys = (targets: readonly LinkTarget[]) => new Set(targets.map(targetKey));
  const isOther =
    !toMany && published.length > 0 && keys(draft).symmetricDifference(keys(published)).size > 0;
  return joinTargets(draft, published, (each) => isOther || hasRow(target, each, 'published'));
}

function ownLinks(options: DesiredOptions, row: SourceRow): readonly LinkedRow[] {
  const { registry, type, stored, slotOf } = options;
  return [...type.attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'relation' || attribute.mappedBy !== undefined) return [];
    const before = storedOwned(stored, row, attribute.name);
    const orders = new Map(before.map((target) => [targetKey(target), target.order]));
    const shown: readonly TargetInWorld[] =
      shownTargets(options, row, attribute) ?? before.map(({ order: _kept, ...target }) => target);
    const hasList = showsList(registry, attribute);
    return shown.map((target) => ({
      attribute: attribute.name,
      targetType: attribute.target,
      targetId: 0,
      ...target,
      order: hasList ? (slotOf(row, attribute.name, target) ?? orders.get(targetKey(target)) ?? null) : null,
    }));
  });
}

type Data = { readonly [name: string]: unknown };

/** Returns the links of a row's components, by component and id. */
function componentLinks(
  registry: SchemaRegistry,
  model: Model,
  data: Data,
): readonly (readonly [string, readonly LinkedRow[]])[] {
  return [...model.attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return [];
    return [data[attribute.name] ?? []].flat().flatMap((value) => {
      const component = value as Data;
      const uid = uidOfComponent(attribute, component);
      const inner = registry.components.get(uid);
      if (inner === undefined) return [];
      const own = [...inner.attributes.values()].flatMap((relation) =>
        relation.kind !== 'relation'
          ? []
          : readTargets(component[relation.name]).map((target) => ({
              attribute: relation.name,
              targetType: relation.target,
              targetId: 0,
              ...target,
              order: null,
            })),
      );
      return [
        [`${uid} ${String(component['id'])}`, own] as const,
        ...componentLinks(registry, inner, component),
      ];
    });
  });
}

type Role = { readonly id?: unknown; readonly type?: unknown };

function roleLink({ type, data }: SourceRow): readonly LinkedRow[] {
  const id = type === USER_TYPE ? (data['role'] as Role | null | undefined)?.id : undefined;
  if (typeof id !== 'number') return [];
  const role = { attribute: 'role', targetType: ROLE_TYPE, targetId: id };
  return [{ ...role, documentId: '', locale: null, order: null }];
}

function roleOf(rows: readonly SourceRow[], id: number): { readonly data: Data } | undefined {
  const found = rows
    .map(({ data }) => data['role'] as Role | null | undefined)
    .find((role) => role?.id === id);
  return found ? { data: { type: found.type } } : undefined;
}
