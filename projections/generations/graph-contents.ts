import { rowVersion, WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { Database } from '../../shared/sqlite/database.ts';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import { KEPT_COMMANDS } from '../graph/store/commands.ts';
import { readGraphPosition } from '../graph/store/graph-position.ts';
import { entryOfKey, VERSIONS, type VersionNumber, versionOfKey } from '../graph/store/row-keys.ts';
import type { Item } from './digest.ts';
import type { RebuildScope } from './generation.ts';

/**
 * A content graph at one position, read by any process. It returns all that an index is made from and all that the write side reads.
 * Numbers that depend on the batches of the log are replaced by names.
 */
export type GraphContents = {
  readonly position: bigint;
  /** Versions of the file's schema, and of the program that began it (see PROJECTOR_VERSION). */
  readonly versions: { readonly schema: number; readonly projector: number };
  /** All items of the scope. Groups: `rows of <type>, <version>`, `links of <type>, <world>`, and `graph: …` without a scope. */
  items(scope: ContentScope): Iterable<Item>;
  /** Values that answers show of a type's rows, in every version. */
  sources(type: Uid): Iterable<unknown>;
  /** Content types in force. */
  types(): readonly Uid[];
  /** About how many items there are. */
  count(): number;
  close(): void;
};

export type ContentScope = Pick<RebuildScope, 'type' | 'world'>;

/** Opens the graph's file as it is now. Throws when there is none. */
export function readGraphContents(file: string): GraphContents {
  const { connection: db, close } = openReadSnapshot(file);
  const all = (sql: string): Iterable<readonly unknown[]> => rowsOf(db, sql);
  const one = (sql: string): unknown => [...all(sql)][0]?.[0];
  const names = new Map(
    [...all('SELECT id, name FROM names')].map(([id, name]) => [Number(id), String(name)]),
  );
  return {
    position: readGraphPosition(db),
    versions: {
      schema: Number(one('PRAGMA user_version')),
      projector: Number(one("SELECT value FROM meta WHERE name = 'projector'") ?? 1),
    },
    *items(scope) {
      const entries = entryNames(all);
      yield* rowItems(all, names, entries, scope);
      yield* linkItems(all, names, entries, scope);
      if (scope.type === undefined && scope.world === undefined) yield* graphItems(all, names, entries);
    },
    *sources(type) {
      const [number] = [...names].find(([, name]) => name === type) ?? [-1];
      for (const [source] of all(`SELECT CAST(source AS TEXT) FROM rows WHERE type = ${number} ORDER BY key`))
        yield JSON.parse(String(source));
    },
    types: () => [...all('SELECT uid FROM definitions ORDER BY uid')].map(([uid]) => String(uid)),
    count: () => TABLES.reduce((sum, table) => sum + Number(one(`SELECT count(*) FROM ${table}`)), 0),
    close,
  };
}

const TABLES = ['rows', 'links', 'entries', 'ids', 'unique_values', 'commands'] as const;

type ReadAll = (sql: string) => Iterable<readonly unknown[]>;
/** Document and locale of an entry, as text. */
type EntryNames = ReadonlyMap<number, string>;
type NumberNames = ReadonlyMap<number, string>;

function* rowsOf(db: Database, sql: string): Iterable<readonly unknown[]> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  for (const row of statement.iterate()) yield row as unknown as readonly unknown[];
}

function entryNames(all: ReadAll): EntryNames {
  const names = new Map<number, string>();
  for (const [id, document, locale] of all('SELECT id, document_id, locale FROM entries')) {
    names.set(Number(id), locale === '' ? String(document) : `${document} ${locale}`);
  }
  return names;
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
    const name = `${key} ${entries.get(entryOfKey(Number(key)))}`;
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
    const relation = relations.get(number) ?? linkedBy(names.get(number), scope);
    relations.set(number, relation);
    const ends = `${source} ${entries.get(source)} to ${target} ${entries.get(target)}`;
    const name = `${relation.name} ${component} ${ends}`;
    for (const { group, at } of relation.worlds) {
      if (row[at] !== null) yield { group, name, content: `${row[at]} ${row[at + 1]}` };
    }
  }
}

/** `at`: the column of its order in a world. */
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

/** Facts that no index shows, and that decide writes. */
function* graphItems(all: ReadAll, names: NumberNames, entries: EntryNames): Iterable<Item> {
  const named = (number: unknown) => names.get(Number(number)) ?? String(number);
  const entry = (number: unknown) => `${number} ${entries.get(Number(number))}`;
  for (const [id, type, ...content] of all(
    'SELECT id, type, revision, shared_edited, shared_published FROM entries',
  ))
    yield { group: 'graph: entries', name: `${named(type)} ${entry(id)}`, content: content.join(' ') };
  for (const [name, value] of all('SELECT name, value FROM sequences'))
    yield { group: 'graph: sequences', name: String(name), content: String(value) };
  for (const [type, id, key] of all('SELECT type, id, key FROM ids'))
    yield { group: 'graph: ids', name: `${named(type)} ${id}`, content: String(key) };
  for (const [attribute, value, holder] of all('SELECT attribute, value, entry FROM unique_values'))
    yield { group: 'graph: unique values', name: `${named(attribute)} ${value}`, content: entry(holder) };
  for (const [source, relation, target, editor] of all(
    'SELECT source, relation, target, editor FROM pending_edits',
  )) {
    const name = `${named(relation)} ${entry(source)} to ${entry(target)}`;
    yield { group: 'graph: pending edits', name, content: entry(editor) };
  }
  for (const [uid, ...content] of all('SELECT uid, position, data FROM definitions'))
    yield { group: 'graph: content types', name: String(uid), content: content.join(' ') };
  yield* commandItems(all);
}

/** How a command that is sent again is known, and which writes come too late. */
function* commandItems(all: ReadAll): Iterable<Item> {
  for (const [id, ...content] of all(
    `SELECT id, request, document_id, position, kept_until FROM commands WHERE ${KEPT_COMMANDS}`,
  ))
    yield { group: 'graph: commands', name: String(id), content: content.join(' ') };
  for (const [epoch] of all("SELECT value FROM meta WHERE name = 'epoch'"))
    yield { group: 'graph: lease', name: 'epoch', content: String(epoch) };
}

function isInScope(scope: ContentScope, type: Uid, isOf: (world: World) => boolean): boolean {
  if (scope.type !== undefined && scope.type !== type) return false;
  return scope.world === undefined || isOf(scope.world);
}
