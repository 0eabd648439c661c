import { FILE_TYPE, type Model, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import type { Database } from '../../shared/sqlite/database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { databaseNames, quoted, snakeCase } from './database-names.ts';
import { PERMISSION_TYPE, ROLE_TYPE } from './stager.ts';

/** Row of a table. Integers beyond 2^53 are rounded, and texts. */
export type TableRow = { readonly [column: string]: unknown };

/** Tables of a Strapi database. Only names that the database itself has become part of a statement. */
export type StrapiTables = {
  /** Returns the name of the first table that exists. */
  find(names: readonly string[]): string | undefined;
  /** Returns the table of a content type or component. */
  ofModel(uid: Uid): string | undefined;
  columns(table: string): readonly string[];
  /** Returns the column of an attribute. */
  columnOf(table: string, attribute: string): string | undefined;
  /** Returns the table that each column refers to. */
  references(table: string): ReadonlyMap<string, string>;
  rows(table: string, order: readonly string[]): Iterable<TableRow>;
  rowsWhere(table: string, column: string, value: number, order?: readonly string[]): readonly TableRow[];
};

/** Names of tables by uid: `collectionName` in the schema. */
export type CollectionNames = { readonly [uid: Uid]: string };

const OF_STRAPI: CollectionNames = {
  [USER_TYPE]: 'up_users',
  [ROLE_TYPE]: 'up_roles',
  [PERMISSION_TYPE]: 'up_permissions',
  [FILE_TYPE]: 'files',
};

/** Table with the settings of Strapi. Every database of Strapi has it. */
export const SETTINGS_TABLE = 'strapi_core_store_settings';

/** Suffixes of tables with components and links, in Strapi 5 and 4. */
const BETWEEN = /_(cmps|components|lnk|links|mph|morphs)$/;

/** Returns whether a table may have content of a project, or the settings. Administrators, tokens and other programs have their own. */
export function isTableOf(collections: CollectionNames, table: string): boolean {
  if (table === SETTINGS_TABLE || BETWEEN.test(table)) return true;
  return Object.values({ ...collections, ...OF_STRAPI }).some((name) => tablesNamed(name).includes(table));
}

function tablesNamed(collection: string): readonly string[] {
  return [...databaseNames([collection], ['']), collection];
}

/** Returns the names of the tables of a project's content types and components. */
export function collectionNames(definitions: readonly TypeDefinition[]): CollectionNames {
  const named = definitions.flatMap(({ uid, schema, components }) => [
    [uid, schema] as const,
    ...Object.entries(components),
  ]);
  return Object.fromEntries(
    named.flatMap(([uid, schema]) => {
      const { collectionName, info } = (schema ?? {}) as {
        readonly collectionName?: string;
        readonly info?: { readonly singularName?: string };
      };
      const name = collectionName ?? info?.singularName;
      return name === undefined || Object.hasOwn(OF_STRAPI, uid) ? [] : [[uid, name]];
    }),
  );
}

/** Opens the tables of a database that is open for reading. */
export function openStrapiTables(db: Database, collections: CollectionNames): StrapiTables {
  const all = (sql: string, ...values: number[]) =>
    prepared(db, sql, { bigints: true })
      .all(...values)
      .map((row) => roundedRow(row as TableRow));
  const names = new Set(
    all("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => String(name)),
  );
  const known = new Map<string, readonly string[]>();
  const columns = (table: string) => {
    const found =
      known.get(table) ?? all(`PRAGMA table_info(${quoted(table)})`).map(({ name }) => String(name));
    known.set(table, found);
    return found;
  };
  const ordered = (table: string, order: readonly string[]) => {
    const present = order.filter((column) => columns(table).includes(column));
    return present.length === 0 ? '' : ` ORDER BY ${present.map(quoted).join(', ')}`;
  };
  const find = (candidates: readonly string[]) => candidates.find((name) => names.has(name));
  return {
    find,
    ofModel(uid) {
      const collection = { ...collections, ...OF_STRAPI }[uid];
      return collection === undefined ? undefined : find(tablesNamed(collection));
    },
    columns,
    columnOf(table, attribute) {
      const [name = ''] = databaseNames([snakeCase(attribute)], ['']);
      return columns(table).find((column) => plain(column) === plain(name));
    },
    references: (table) =>
      new Map(
        all(`PRAGMA foreign_key_list(${quoted(table)})`).map((key) => [
          String(key['from']),
          String(key['table']),
        ]),
      ),
    *rows(table, order) {
      const statement = prepared(db, `SELECT * FROM ${quoted(table)}${ordered(table, order)}`, {
        bigints: true,
      });
      for (const row of statement.iterate()) yield roundedRow(row as TableRow);
    },
    rowsWhere: (table, column, value, order = []) =>
      all(`SELECT * FROM ${quoted(table)} WHERE ${quoted(column)} = ?${ordered(table, order)}`, value),
  };
}

/** Returns the tables with the components of a model, and the column with a component's id there. */
export function componentTable(
  tables: StrapiTables,
  model: Model,
): { readonly table: string; readonly id: string } | undefined {
  const own = tables.ofModel(model.uid);
  const table = own && tables.find(databaseNames([own], ['cmps', 'components']));
  const id = table && tables.columns(table).find((column) => ['cmp_id', 'component_id'].includes(column));
  return table === undefined || id === undefined ? undefined : { table, id };
}

/** Compares names without their underscores: it is not certain where Strapi sets them next to digits. */
function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

function roundedRow(row: TableRow): TableRow {
  const values = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? rounded(value) : value,
  ]);
  return Object.fromEntries(values);
}

/** Strapi itself rounds larger integers. Its answers and its archives have the rounded ones. */
function rounded(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(number);
}
