import { valueOfJson } from '../../shared/json.ts';
import type {
  Attribute,
  ComponentAttribute,
  DynamicZoneAttribute,
  Model,
  ScalarType,
  Uid,
} from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ImportNotes } from './import-notes.ts';
import type { Entity } from './stager.ts';
import { componentTable, type StrapiTables, type TableRow } from './strapi-tables.ts';

export type DatabaseScope = {
  readonly registry: SchemaRegistry;
  readonly tables: StrapiTables;
  readonly notes: Pick<ImportNotes, 'add'>;
};

type Data = { readonly [name: string]: unknown };

/** Attributes of every row, in the form of an archive. */
const SYSTEM = {
  documentId: 'string',
  createdAt: 'datetime',
  updatedAt: 'datetime',
  publishedAt: 'datetime',
  locale: 'string',
} as const satisfies { readonly [name: string]: ScalarType };

/** Yields the rows of a content type in the form of an archive: with their components, and without links. */
export function* databaseRows(scope: DatabaseScope, uid: Uid): Generator<Entity> {
  const table = scope.tables.ofModel(uid);
  if (table === undefined) return;
  const model = scope.registry.contentTypes.get(uid);
  for (const row of scope.tables.rows(table, ['id'])) {
    const data = model === undefined ? row : values(scope, model, { table, row });
    const system = Object.entries(SYSTEM).map(([name, type]) => [
      name,
      scalar(scope, { table, row }, name, type),
    ]);
    yield { type: uid, id: Number(row['id']), data: { ...data, ...Object.fromEntries(system) } };
  }
}

type Stored = { readonly table: string; readonly row: TableRow };

function values(scope: DatabaseScope, model: Model, stored: Stored): Data {
  const components = componentsByField(scope, model, Number(stored.row['id']));
  const members = [...model.attributes.values()].map((attribute) => [
    attribute.name,
    memberOf(scope, attribute, stored, components),
  ]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

type Components = ReadonlyMap<string, readonly TableRow[]>;

/** Returns the links to the components of a row in their order, by attribute. */
function componentsByField({ tables }: DatabaseScope, model: Model, id: number): Components {
  const found = componentTable(tables, model);
  if (found === undefined) return new Map();
  return Map.groupBy(tables.rowsWhere(found.table, 'entity_id', id, ['order', 'id']), ({ field }) =>
    String(field),
  );
}

function memberOf(
  scope: DatabaseScope,
  attribute: Attribute,
  stored: Stored,
  components: Components,
): unknown {
  switch (attribute.kind) {
    case 'relation':
      return undefined;
    case 'scalar':
      return scalar(scope, stored, attribute.name, attribute.type);
    default: {
      const list = (components.get(attribute.name) ?? []).flatMap((link) =>
        component(scope, attribute, link),
      );
      return attribute.kind === 'component' && !attribute.repeatable ? (list[0] ?? null) : list;
    }
  }
}

function component(
  scope: DatabaseScope,
  attribute: ComponentAttribute | DynamicZoneAttribute,
  link: TableRow,
): readonly Data[] {
  const uid = String(link['component_type']);
  const model = scope.registry.components.get(uid);
  const table = scope.tables.ofModel(uid);
  const id = Number(link['cmp_id'] ?? link['component_id']);
  const kind = attribute.kind === 'dynamiczone' ? { __component: uid } : {};
  // The import names a component in a zone that no schema has.
  if (attribute.kind === 'dynamiczone' && (model === undefined || table === undefined))
    return [{ id, ...kind }];
  const row = table === undefined ? undefined : scope.tables.rowsWhere(table, 'id', id)[0];
  if (model === undefined || table === undefined || row === undefined) {
    scope.notes.add(
      `${uid} ${attribute.name}`,
      'omitted: the database does not have the component',
      `component ${id}`,
    );
    return [];
  }
  return [{ id, ...values(scope, model, { table, row }), ...kind }];
}

function scalar({ tables }: DatabaseScope, { table, row }: Stored, name: string, type: ScalarType): unknown {
  const column = tables.columnOf(table, name);
  const value = column === undefined ? undefined : row[column];
  if (value === null || value === undefined) return value;
  switch (type) {
    case 'boolean':
      return typeof value === 'number' ? value !== 0 : value;
    case 'json':
    case 'blocks':
      return typeof value === 'string' ? parsedOr(value) : value;
    case 'datetime':
      return timeOf(value);
    case 'date':
      return typeof value === 'number' ? new Date(value).toISOString().slice(0, 10) : value;
    default:
      return value;
  }
}

/** A text that is not JSON is a text value. */
function parsedOr(text: string): unknown {
  const value = valueOfJson(text);
  return value === undefined ? text : value;
}

/** SQLite has times in milliseconds since 1970. A text without a zone is in UTC. */
function timeOf(value: unknown): unknown {
  const isLocal = typeof value === 'string' && /^\d{4}-\d\d-\d\d[ T][\d:.]+$/.test(value);
  const time = new Date(isLocal ? `${value.replace(' ', 'T')}Z` : (value as string | number));
  return Number.isNaN(time.getTime()) ? value : time.toISOString();
}
