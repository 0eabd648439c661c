import { Client, DatabaseError } from 'pg';
import { connectDatabase, type Database } from '../../shared/sqlite/open-database.ts';
import { quoted } from './database-names.ts';
import { type CollectionNames, isTableOf, SETTINGS_TABLE } from './strapi-tables.ts';

export type PostgresCopy = {
  /** Address with `postgres://`. It may have a password. */
  readonly url: string;
  /** SQLite file to create. */
  readonly file: string;
  readonly collections: CollectionNames;
  /** Milliseconds until a server that does not answer is an error. Default: ten seconds. */
  readonly connectMs?: number;
};

const CONNECT_MS = 10_000;
/** Rows that the memory has at once. */
const BATCH = 500;

/**
 * Copies the tables with a project's content from Strapi's PostgreSQL database to a SQLite file, at one moment, and changes nothing there.
 * Values have the forms of Strapi on SQLite, except that large integers are exact. Throws a sentence without the password.
 */
export async function copyPostgres(options: PostgresCopy): Promise<void> {
  const client = clientOf(options);
  const { host, port, database } = client;
  const where = `the PostgreSQL database ${database ?? ''} at ${host}:${port}`;
  // A lost connection fails the current query too.
  client.on('error', () => {});
  const copy = connectDatabase(options.file, { durability: 'none' });
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query("SET LOCAL DateStyle = 'ISO, YMD'");
    await copyTables(client, copy, options.collections);
    await client.query('COMMIT');
  } catch (error) {
    throw new Error(`cannot read ${where}: ${reasonOf(error)}`, { cause: error });
  } finally {
    copy.close();
    await client.end().catch(() => {});
  }
}

const FORM =
  'the address of the database is not like postgres://user@host:5432/database: in a password, write % as %25, # as %23, / as %2F, ? as %3F and @ as %40';

function clientOf({ url, connectMs = CONNECT_MS }: PostgresCopy): Client {
  // A part of a password with such a letter would be taken for the host or the database, which messages name.
  if (/^\w+:\/\/[^/?#]*([/?].*@|.*#)/.test(url)) throw new Error(FORM);
  try {
    return new Client({
      connectionString: url,
      application_name: 'varve import',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      types: { getTypeParser: () => String },
    });
  } catch {
    throw new Error(FORM);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  const { message } = error as Error;
  if (message.startsWith('SASL:') || message.includes('client password must be'))
    return 'the server wants a password, which PGPASSWORD or the address gives';
  return error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE
    ? `${message}: the user needs the privilege SELECT on the tables of Strapi`
    : message;
}

const INSUFFICIENT_PRIVILEGE = '42501';

type Column = { readonly name: string; readonly type: number; readonly target: string | null };

async function copyTables(client: Client, copy: Database, collections: CollectionNames): Promise<void> {
  const tables = await tablesOf(client);
  if (!tables.has(SETTINGS_TABLE))
    throw new Error(`it is not a database of Strapi: it has no table ${SETTINGS_TABLE}`);
  copy.exec('PRAGMA foreign_keys = OFF; BEGIN');
  for (const [table, columns] of tables)
    if (isTableOf(collections, table)) await copyTable(client, copy, { table, columns });
  copy.exec('COMMIT');
}

/** Columns of all tables in the first schema of the search path, and the table that each column refers to. */
const COLUMNS = `
  SELECT c.relname, a.attname, a.atttypid, min(f.relname)
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_catalog.pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]
  LEFT JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
  WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p')
  GROUP BY c.relname, a.attname, a.atttypid, a.attnum ORDER BY c.relname, a.attnum`;

async function tablesOf(client: Client): Promise<ReadonlyMap<string, readonly Column[]>> {
  const { rows } = await client.query<[string, string, string, string | null]>({
    text: COLUMNS,
    rowMode: 'array',
  });
  const columns = rows.map(([table, name, type, target]) => ({ table, name, type: Number(type), target }));
  return Map.groupBy(columns, ({ table }) => table);
}

type Table = { readonly table: string; readonly columns: readonly Column[] };

async function copyTable(client: Client, copy: Database, { table, columns }: Table): Promise<void> {
  const definitions = columns.map(
    ({ name, target }) => quoted(name) + (target === null ? '' : ` REFERENCES ${quoted(target)}`),
  );
  copy.exec(`CREATE TABLE ${quoted(table)} (${definitions.join(', ')})`);
  const insert = copy.prepare(`INSERT INTO ${quoted(table)} VALUES (${columns.map(() => '?').join(', ')})`);
  const selected = columns.map(({ name, type }) =>
    type === TYPES.timestamptz ? `${quoted(name)} AT TIME ZONE 'UTC'` : quoted(name),
  );
  await client.query(
    `DECLARE varve_rows NO SCROLL CURSOR FOR SELECT ${selected.join(', ')} FROM ${quoted(table)}`,
  );
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({
      text: `FETCH ${BATCH} FROM varve_rows`,
      rowMode: 'array',
    });
    for (const row of rows) insert.run(...columns.map(({ type }, at) => stored(type, row[at] ?? null)));
    if (rows.length === 0) break;
  }
  await client.query('CLOSE varve_rows');
}

/** Numbers of PostgreSQL's own types. */
const TYPES = {
  bool: 16,
  int8: 20,
  int2: 21,
  int4: 23,
  float4: 700,
  float8: 701,
  timestamptz: 1184,
  numeric: 1700,
};

/** Returns the form of a value in Strapi's SQLite. PostgreSQL sends all values as text. */
function stored(type: number, text: string | null): string | number | bigint | null {
  if (text === null) return null;
  switch (type) {
    case TYPES.bool:
      return text === 't' ? 1n : 0n;
    case TYPES.int2:
    case TYPES.int4:
    case TYPES.int8:
      return Number.isSafeInteger(Number(text)) ? BigInt(text) : text;
    case TYPES.float4:
    case TYPES.float8:
    case TYPES.numeric:
      return Number(text);
    default:
      return text;
  }
}
