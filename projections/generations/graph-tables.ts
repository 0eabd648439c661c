import { KEPT_COMMANDS } from '../graph/store/commands.ts';
import { entryOfKey } from '../graph/store/row-keys.ts';
import type { ComparedTable } from './equal-tables.ts';

/** Returns the document and locale of an entry, as text. */
export type EntryNames = (id: number) => string | undefined;
export type NumberNames = ReadonlyMap<number, string>;

/** A table that decides writes and that no index shows. Its items form the group `graph: <group>`. */
export type GraphTable = {
  readonly group: string;
  /** undefined: the table is always read. */
  readonly table?: ComparedTable;
  readonly sql: string;
  item(row: readonly unknown[]): readonly [name: string, content: string];
};

/**
 * Tables without numbers of names or entries. `commands` identifies repeated commands. `lease` decides which writes are rejected as too
 * late.
 */
const PLAIN_TABLES: readonly Omit<GraphTable, 'item'>[] = [
  { group: 'sequences', table: 'sequences', sql: 'SELECT name, value FROM sequences' },
  { group: 'content types', table: 'definitions', sql: 'SELECT uid, position, data FROM definitions' },
  {
    group: 'commands',
    table: 'commands',
    sql: `SELECT id, request, document_id, position, kept_until FROM commands WHERE ${KEPT_COMMANDS}`,
  },
  { group: 'lease', sql: "SELECT name, value FROM meta WHERE name = 'epoch'" },
];

/** Returns the tables. `names`: the name of each number. */
export function graphTables(names: NumberNames, entries: EntryNames): readonly GraphTable[] {
  const named = (number: unknown) => names.get(Number(number)) ?? String(number);
  const entry = (number: unknown) => `${number} ${entries(Number(number))}`;
  return [
    {
      group: 'entries',
      table: 'entries',
      sql: 'SELECT id, type, revision, shared_edited, shared_published FROM entries',
      item: ([id, type, ...content]) => [`${named(type)} ${entry(id)}`, content.join(' ')],
    },
    {
      group: 'ids',
      table: 'ids',
      sql: 'SELECT type, id, key FROM ids',
      item: ([type, id, key]) => [`${named(type)} ${id}`, String(key)],
    },
    {
      group: 'unique values',
      table: 'unique_values',
      sql: 'SELECT attribute, value, entry FROM unique_values',
      item: ([attribute, value, holder]) => [`${named(attribute)} ${value}`, entry(holder)],
    },
    {
      group: 'pending edits',
      table: 'pending_edits',
      sql: 'SELECT source, relation, target, editor FROM pending_edits',
      item: ([source, relation, target, editor]) => [
        `${named(relation)} ${entry(source)} to ${entry(target)}`,
        entry(editor),
      ],
    },
    ...journalTables(entry),
    ...keptTables(named, entry),
    ...PLAIN_TABLES.map(
      (table): GraphTable => ({ ...table, item: ([name, ...content]) => [String(name), content.join(' ')] }),
    ),
  ];
}

/** The journal, and the columns of entries from which its next rows are made. `entries` is equal wherever `journal` was found equal. */
function journalTables(entry: (number: unknown) => string): readonly GraphTable[] {
  return [
    {
      group: 'journal',
      table: 'journal',
      sql: 'SELECT position, part, key, event, names, links_after FROM journal',
      item: ([position, part, key, ...content]) => [
        `${position} ${part}`,
        [key, entry(entryOfKey(Number(key))), ...content].join(' '),
      ],
    },
    {
      group: 'journal',
      table: 'journal',
      sql: 'SELECT id, unpublished, equal_at FROM entries',
      item: ([id, ...content]) => [`entry ${entry(id)}`, content.join(' ')],
    },
  ];
}

/** Tables of values and links that no definition shows. */
function keptTables(
  named: (number: unknown) => string,
  entry: (number: unknown) => string,
): readonly GraphTable[] {
  return [
    {
      group: 'kept values',
      sql: `SELECT entry, version, owner, attribute, kept_definitions.data, kept_values.data
        FROM kept_values JOIN kept_definitions ON kept_definitions.id = definition`,
      item: ([id, version, owner, attribute, ...content]) => [
        `${entry(id)} ${version} ${owner} ${attribute}`,
        content.join('\n'),
      ],
    },
    {
      group: 'kept links',
      table: 'kept_links',
      sql: `SELECT source, relation, target, draft_source_order, draft_target_order, published_source_order,
        published_target_order FROM kept_links`,
      item: ([source, relation, target, ...orders]) => [
        `${named(relation)} ${entry(source)} to ${entry(target)}`,
        orders.join(' '),
      ],
    },
  ];
}
