import { defined } from '../../shared/defined.ts';
import {
  FILE_TYPE,
  type Model,
  type RelationAttribute,
  type Uid,
  USER_TYPE,
} from '../../shared/schema/content-type.ts';
import { databaseNames, snakeCase } from './database-names.ts';
import type { DatabaseScope } from './database-rows.ts';
import { type Link, PERMISSION_TYPE, ROLE_TYPE } from './stager.ts';
import type { StrapiTables } from './strapi-tables.ts';

/** Suffixes of tables with links, in Strapi 5 and 4. */
const LINKS = ['lnk', 'links'];

/** Yields all links in the form of an archive: relations from their owners, media, roles, and locales of Strapi 4. */
export function* databaseLinks({ registry, tables }: DatabaseScope): Generator<Link> {
  for (const model of [...registry.contentTypes.values(), ...registry.components.values()]) {
    for (const attribute of model.attributes.values()) {
      if (attribute.kind === 'relation' && attribute.media === undefined && attribute.mappedBy === undefined)
        yield* relationLinks(tables, model, attribute);
    }
    yield* ownLinks(tables, { type: model.uid, field: 'localizations', target: model.uid });
  }
  for (const type of [USER_TYPE, PERMISSION_TYPE])
    yield* ownLinks(tables, { type, field: 'role', target: ROLE_TYPE });
  yield* mediaLinks(tables);
}

type Relation = {
  readonly type: Uid;
  readonly field: string;
  readonly target: Uid;
  readonly inverse?: string | undefined;
  /** True if the owner, or the target, has an order of the links. */
  readonly ordered?: boolean;
  readonly inverselyOrdered?: boolean;
};

function relationLinks(tables: StrapiTables, model: Model, attribute: RelationAttribute): Generator<Link> {
  const { name, target, relation, inversedBy } = attribute;
  return ownLinks(tables, {
    type: model.uid,
    field: name,
    target,
    inverse: inversedBy,
    ordered: relation.endsWith('ToMany'),
    inverselyOrdered: inversedBy !== undefined && relation.startsWith('manyTo'),
  });
}

/** Yields the links of a table between two others; without such a table those in a column of the owner. */
function* ownLinks(tables: StrapiTables, relation: Relation): Generator<Link> {
  const owner = tables.ofModel(relation.type);
  const target = tables.ofModel(relation.target);
  if (owner === undefined || target === undefined) return;
  const between = tableBetween(tables, owner, relation.field);
  if (between === undefined) yield* columnLinks(tables, owner, relation);
  else yield* tableLinks(tables, { table: between, owner, target }, relation);
}

function tableBetween(tables: StrapiTables, owner: string, field: string): string | undefined {
  return tables.find(databaseNames([snakeCase(owner), snakeCase(field)], LINKS));
}

/** Returns whether a database can have links of a relation: in a table of their own, or in a column. */
export function hasLinks(tables: StrapiTables, { uid }: Model, { name, target }: RelationAttribute): boolean {
  const owner = tables.ofModel(uid);
  // A target without a table is a problem of its own.
  if (owner === undefined || tables.ofModel(target) === undefined) return true;
  return (
    tableBetween(tables, owner, name) !== undefined || tables.columnOf(owner, `${name}_id`) !== undefined
  );
}

function* columnLinks(tables: StrapiTables, owner: string, relation: Relation): Generator<Link> {
  const column = tables.columnOf(owner, `${relation.field}_id`);
  if (column === undefined || relation.field === 'localizations') return;
  for (const row of tables.rows(owner, ['id'])) {
    if (row[column] !== null) yield linkOf(relation, { owner: row['id'], target: row[column] });
  }
}

type Between = { readonly table: string; readonly owner: string; readonly target: string };

function* tableLinks(tables: StrapiTables, between: Between, relation: Relation): Generator<Link> {
  const columns = linkColumns(tables, between, relation);
  if (columns === undefined)
    throw new Error(`the table ${between.table} does not link ${between.owner} to ${between.target}`);
  for (const row of tables.rows(between.table, ['id'])) {
    const at = (column: string | undefined) => (column === undefined ? undefined : row[column]);
    const [owner, target] = [row[columns.owner], row[columns.target]];
    if (owner === null || target === null) continue;
    const slots = { pos: at(columns.order), inverse: at(columns.inverseOrder) };
    yield linkOf(relation, { owner, target, ...slots });
  }
}

/** Finds the columns of a table of links by the tables that they refer to, because long names are shortened. */
function linkColumns(tables: StrapiTables, { table, owner, target }: Between, relation: Relation) {
  const references = tables.references(table);
  const keys = tables.columns(table).filter((column) => references.has(column));
  const inverse = keys.find((column) => column.startsWith('inv_'));
  const targetKey = owner === target ? inverse : keys.find((column) => references.get(column) === target);
  const ownerKey = keys.find((column) => references.get(column) === owner && column !== targetKey);
  if (ownerKey === undefined || targetKey === undefined) return undefined;
  const orders = tables.columns(table).filter((column) => column !== 'id' && !keys.includes(column));
  const [first, second] = orders;
  if (relation.ordered !== true)
    return {
      owner: ownerKey,
      target: targetKey,
      order: undefined,
      inverseOrder: relation.inverselyOrdered ? first : undefined,
    };
  if (relation.inverselyOrdered !== true)
    return { owner: ownerKey, target: targetKey, order: first, inverseOrder: undefined };
  // The order of a list is named after what it lists. Of a relation of a type to itself, the inverse one has a prefix.
  const own = targetKey.replace(/^inv_|_id$/g, '');
  const order = orders.find((column) => column.replace(/_ord(er)?$/, '') === own) ?? first;
  return { owner: ownerKey, target: targetKey, order, inverseOrder: order === first ? second : first };
}

type Ends = {
  readonly owner: unknown;
  readonly target: unknown;
  readonly pos?: unknown;
  readonly inverse?: unknown;
};

function linkOf({ type, field, target, inverse }: Relation, ends: Ends): Link {
  const slot = (pos: unknown) => (typeof pos === 'number' ? { pos } : {});
  return {
    kind: type === target ? 'relation.circular' : 'relation.basic',
    left: { type, field, ref: Number(ends.owner), ...slot(ends.pos) },
    right: {
      type: target,
      ref: Number(ends.target),
      ...defined({ field: inverse }),
      ...slot(ends.inverse),
    },
  };
}

function* mediaLinks(tables: StrapiTables): Generator<Link> {
  const table = tables.find(databaseNames(['files', 'related'], ['mph', 'morphs']));
  if (table === undefined) return;
  for (const row of tables.rows(table, ['id'])) {
    const { file_id: file, related_id: related, related_type: type, field, order } = row;
    if (file === null || related === null || typeof field !== 'string') continue;
    yield {
      kind: 'relation.morph',
      left: { type: FILE_TYPE, field: 'related', ref: Number(file) },
      right: {
        type: String(type),
        field,
        ref: Number(related),
        pos: typeof order === 'number' ? order : null,
      },
    };
  }
}
