import { valueAt } from '../../shared/map-values.ts';
import { rowVersion, WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { Database } from '../../shared/sqlite/database.ts';
import { isDamaged } from '../../shared/sqlite/failures.ts';
import { lookAddress, lookAtDatabase } from '../../shared/sqlite/look-at-database.ts';
import { openReadSnapshot, type ReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import { readGraphPosition } from '../graph/store/graph-position.ts';
import { entryOfKey, VERSIONS, type VersionNumber, versionOfKey } from '../graph/store/row-keys.ts';
import type { ComparisonMeter } from './compare-items.ts';
import type { Item } from './digest.ts';
import { COMPARED_TABLES, type ComparedTable, findEqualTables } from './equal-tables.ts';
import type { RebuildScope } from './generation.ts';
import { type EntryNames, graphTables, type NumberNames } from './graph-tables.ts';

/**
 * A content graph at one position, which any process can read. It has all content that an index is made from and that the write side reads.
 * Names replace the numbers that depend on the batches of the log.
 */
export type GraphContents = {
  readonly position: bigint;
  /** Versions of the file's schema and of the program that created it (see PROJECTOR_VERSION). */
  readonly versions: { readonly schema: number; readonly projector: number };
  /** Address of the graph's file, as SQLite attaches it. */
  readonly address: string;
  /**
   * Returns all items of the scope, except those of the tables in `omitted`. Groups: `rows of <type>, <version>`, `links of <type>,
   * <world>`, and `graph: …` without a scope.
   */
  items(scope: ContentScope, omitted?: ReadonlySet<ComparedTable>): Iterable<Item>;
  /** Returns the tables that have the same rows in another graph, so that no item of them differs. */
  equalTables(other: GraphContents, meter: ComparisonMeter): Promise<ReadonlySet<ComparedTable>>;
  /** Returns the values of a type's rows that answers show, in every version. */
  sources(type: Uid): Iterable<unknown>;
  /** Returns the content types in force. */
  types(): readonly Uid[];
  /** Returns the approximate number of items. */
  count(): number;
  close(): void;
};

export type ContentScope = Pick<RebuildScope, 'type' | 'world'>;

/** Reads a graph with `read`. Throws a message if its file is damaged. */
export function readFromGraph<Result>(file: string, read: (contents: GraphContents) => Result): Result {
  try {
    const contents = readGraphContents(file);
    try {
      return read(contents);
    } finally {
      contents.close();
    }
  } catch (error) {
    if (!isDamaged(error)) throw error;
    const { message } = error as Error;
    throw new Error(
      `the content graph ${file} is damaged (${message}): start the server, which makes it from the log again`,
      { cause: error },
    );
  }
}

/** Opens the graph's file in its current state. Throws if there is none. */
export function readGraphContents(file: string): GraphContents {
  return contentsOf(openReadSnapshot(file), file);
}

/**
 * Opens the graph's file like readGraphContents, and changes nothing of its folder. `close` throws a message if a server has started and
 * changed the file meanwhile.
 */
export function lookAtGraphContents(file: string): GraphContents {
  const address = lookAddress(file);
  const looked = lookAtDatabase(file);
  looked.connection.exec('BEGIN');
  return contentsOf(looked, address);
}

function contentsOf({ connection: db, close }: ReadSnapshot, address: string): GraphContents {
  const all = (sql: string): Iterable<readonly unknown[]> => rowsOf(db, sql);
  const one = (sql: string): unknown => [...all(sql)][0]?.[0];
  const names = new Map(
    [...all('SELECT id, name FROM names')].map(([id, name]) => [Number(id), String(name)]),
  );
  let attached = 0;
  return {
    position: readGraphPosition(db),
    versions: {
      schema: Number(one('PRAGMA user_version')),
      projector: Number(one("SELECT value FROM meta WHERE name = 'projector'") ?? 1),
    },
    address,
    *items(scope, omitted = NO_TABLES) {
      const entries = entryNames(all);
      if (!omitted.has('rows')) yield* rowItems(all, names, entries, scope);
      if (!omitted.has('links')) yield* linkItems(all, names, entries, scope);
      if (scope.type !== undefined || scope.world !== undefined) return;
      for (const { group, table, item, sql } of graphTables(names, entries)) {
        if (table !== undefined && omitted.has(table)) continue;
        for (const [name, content] of Iterator.from(all(sql)).map(item))
          yield { group: `graph: ${group}`, name, content };
      }
    },
    async equalTables(other, meter) {
      const alias = `other${++attached}`;
      db.prepare(`ATTACH ? AS ${alias}`).run(other.address);
      // Another process may have written to the other file since then.
      if (readGraphPosition(db, alias) !== other.position) return NO_TABLES;
      const equal = await findEqualTables(db, alias, meter);
      // Items of the other tables take their names from these two tables.
      return equal.has('names') && equal.has('entries') ? equal : NO_TABLES;
    },
    *sources(type) {
      const [number] = [...names].find(([, name]) => name === type) ?? [-1];
      for (const [source] of all(`SELECT CAST(source AS TEXT) FROM rows WHERE type = ${number} ORDER BY key`))
        yield JSON.parse(String(source));
    },
    types: () => [...all('SELECT uid FROM definitions ORDER BY uid')].map(([uid]) => String(uid)),
    count: () =>
      COMPARED_TABLES.reduce((sum, table) => sum + Number(one(`SELECT count(*) FROM ${table}`)), 0),
    close,
  };
}

const NO_TABLES: ReadonlySet<ComparedTable> = new Set();

type ReadAll = (sql: string) => Iterable<readonly unknown[]>;

function* rowsOf(db: Database, sql: string): Iterable<readonly unknown[]> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  for (const row of statement.iterate()) yield row as unknown as readonly unknown[];
}

/** Reads all names when the first one is requested. */
function entryNames(all: ReadAll): EntryNames {
  let names: Map<number, string> | undefined;
  return (id) => {
    if (names === undefined) {
      names = new Map();
      for (const [entry, document, locale] of all('SELECT id, document_id, locale FROM entries'))
        names.set(Number(entry), locale === '' ? String(document) : `${document} ${locale}`);
    }
    return names.get(id);
  };
}

function* rowItems(
  all: ReadAll,
  names: NumberNames,
  entries: EntryNames,
  scope: ContentScope,
): Iterable<Item> {
  const sql = 'SELECT key, type, position, CAST(source AS TEXT), hidden, components FROM rows ORDER BY key';
  for (const [key, type, ...content] of all(sql)) {
    const uid = names.get(Number(type)) ?? String(type);
    const version = VERSIONS[versionOfKey(Number(key))] as (typeof VERSIONS)[VersionNumber];
    if (!isInScope(scope, uid, (world) => version === rowVersion(version !== 'live', world))) continue;
    const name = `${key} ${entries(entryOfKey(Number(key)))}`;
    yield { group: `rows of ${uid}, ${version}`, name, content: content.join('\n') };
  }
}

const LINKS = `SELECT source, relation, component, target, draft_source_order, draft_target_order,
  published_source_order, published_target_order FROM links ORDER BY source, relation, component, target`;

function* linkItems(
  all: ReadAll,
  names: NumberNames,
  entries: EntryNames,
  scope: ContentScope,
): Iterable<Item> {
  const relations = new Map<number, LinkedBy>();
  for (const row of all(LINKS)) {
    const [source, number, component, target] = row as readonly number[] as [number, number, number, number];
    const relation = valueAt(relations, number, () => linkedBy(names.get(number), scope));
    const ends = `${source} ${entries(source)} to ${target} ${entries(target)}`;
    const name = `${relation.name} ${component} ${ends}`;
    for (const { group, at } of relation.worlds) {
      if (row[at] !== null) yield { group, name, content: `${row[at]} ${row[at + 1]}` };
    }
  }
}

/** `at`: the column with the link's slot in a world. */
type LinkedBy = {
  readonly name: string;
  readonly worlds: readonly { readonly group: string; readonly at: number }[];
};

function linkedBy(relation: string | undefined, scope: ContentScope): LinkedBy {
  const [uid, path, attribute] = JSON.parse(relation ?? '[]') as [Uid, readonly unknown[], string];
  const worlds = WORLDS.map((world, number) => ({
    world,
    group: `links of ${uid}, ${world}`,
    at: 4 + number * 2,
  }));
  return {
    name: path.length === 0 ? attribute : JSON.stringify([...path, attribute]),
    worlds: worlds.filter(({ world }) => isInScope(scope, uid, (asked) => asked === world)),
  };
}

function isInScope(scope: ContentScope, type: Uid, isOf: (world: World) => boolean): boolean {
  if (scope.type !== undefined && scope.type !== type) return false;
  return scope.world === undefined || isOf(scope.world);
}
