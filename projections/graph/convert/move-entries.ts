import type { Uid } from '../../../shared/schema/content-type.ts';
import { registryOfDefinitions, type TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { reportLinks } from '../store/link-store.ts';
import { BOTH_WORLDS } from '../store/row-keys.ts';
import { createSchemaView } from '../store/type-view.ts';
import { convertEntry, prepareConversion, type Redefinition } from './convert-entry.ts';
import type { ModelChange } from './convert-values.ts';
import { isSameModel } from './definitions.ts';
import { keepUndefinedLinks } from './keep-links.ts';
import { renamedRelations } from './rename-relations.ts';

/** Schema name of the attached file from which entries come. */
const LATE = 'late';

/** Attaches the file of another graph. Must run outside of a transaction. */
export function attachOtherGraph({ db }: Pick<GraphContext, 'db'>, file: string): void {
  db.connection.prepare(`ATTACH ? AS ${LATE}`).run(file);
  db.connection.exec('CREATE TEMP TABLE IF NOT EXISTS moved (entry INTEGER PRIMARY KEY)');
}

/** Moves whole documents, because a row shows whether another locale of its document is published. */
const MOVED = `INSERT INTO temp.moved
  SELECT DISTINCT other.id FROM ${LATE}.touched
  JOIN ${LATE}.entries AS entry ON entry.id = touched.entry
  JOIN ${LATE}.entries AS other ON other.document_id = entry.document_id AND other.type = entry.type
  WHERE touched.number > ?`;
const MOVED_ENTRIES = 'SELECT id, type FROM entries WHERE id IN (SELECT entry FROM temp.moved) ORDER BY id';
const IDS = 'SELECT entry FROM temp.moved';
const OF_MOVED = `source IN (${IDS})`;
const KEYS = [0, 1, 2].map((version) => `SELECT entry * 4 + ${version} FROM temp.moved`).join(' UNION ALL ');

/**
 * Copies the entries that the attached graph has touched after number `after` (see late-entries.ts). They replace the entries of this
 * graph, and are converted to its content types. Returns the last number.
 */
export function moveEntries(context: GraphContext, after: number): number {
  const { db, links, names, session } = context;
  const [last] = db.get(`SELECT max(number) FROM ${LATE}.touched`) ?? [];
  db.run('DELETE FROM temp.moved');
  db.run(MOVED, after);
  const known = db.all(MOVED_ENTRIES) as number[][];
  for (const [entry = 0] of known) reportLinks(context.changes, links.ownedBy(entry), BOTH_WORLDS, 'removed');
  removeRows(context);
  copyRows(context);
  names.forget();
  for (const part of [context.pending, context.keptValues, context.keptLinks]) part.reload();
  const { redefined, before } = readDefinitions(context);
  const conversions = new Map(
    redefined.map((each) => [each.now.uid, prepareConversion(context, each, OF_MOVED)]),
  );
  for (const [uid, { change }] of conversions) prepareType(context, uid, change);
  const entries = db.all(MOVED_ENTRIES) as number[][];
  for (const [id = 0, type = 0] of entries) {
    const entry = session.shown(context.schema.typeOfNumber(type), id);
    const conversion = entry && conversions.get(entry.view.uid);
    if (entry !== undefined && conversion !== undefined) convertEntry(context, entry, conversion);
  }
  context.flush();
  keepUndefinedLinks(context, before, { types: new Set(conversions.keys()), where: OF_MOVED });
  context.pending.reload();
  for (const [entry = 0] of entries) reportLinks(context.changes, links.around(entry), BOTH_WORLDS, 'there');
  return Number(last ?? after);
}

/** Removes data that the following conversion of rows writes again, and renames the relations of links. */
function prepareType({ db, names, schema }: GraphContext, uid: Uid, change: ModelChange): void {
  for (const { number } of schema.type(uid).unique)
    db.run(`DELETE FROM unique_values WHERE attribute = ? AND entry IN (${IDS})`, number);
  for (const { from, to } of renamedRelations(uid, change, [], [])) {
    for (const table of ['links', 'pending_edits']) {
      const sql = `UPDATE ${table} SET relation = ? WHERE relation = ? AND source IN (${IDS})`;
      db.run(sql, names.number(to), names.number(from));
    }
  }
}

function removeRows({ db, changes, existing, schema }: GraphContext): void {
  for (const [type, key] of db.all(`SELECT type, key FROM rows WHERE key IN (${KEYS})`) as number[][]) {
    changes.row({ type: schema.typeOfNumber(type as number).uid, key: key as number, row: null });
    existing.delete(key as number);
  }
  db.run(`DELETE FROM rows WHERE key IN (${KEYS})`);
  db.run(`DELETE FROM unique_values WHERE entry IN (${IDS})`);
  db.run(`DELETE FROM links WHERE source IN (${IDS})`);
  db.run(`DELETE FROM pending_edits WHERE source IN (${IDS})`);
  db.run(`DELETE FROM kept_values WHERE entry IN (${IDS})`);
  db.run(`DELETE FROM kept_links WHERE source IN (${IDS})`);
}

function copyRows({ db, existing, sequences }: GraphContext): void {
  const copy = (table: string, where: string) =>
    db.run(`INSERT OR REPLACE INTO main.${table} SELECT * FROM ${LATE}.${table} WHERE ${where}`);
  copy('entries', `id IN (${IDS})`);
  copy('rows', `key IN (${KEYS})`);
  copy('ids', `key IN (${KEYS})`);
  copy('unique_values', `entry IN (${IDS})`);
  copy('links', `source IN (${IDS})`);
  copy('pending_edits', `source IN (${IDS})`);
  copy('kept_values', `entry IN (${IDS})`);
  copy('kept_links', `source IN (${IDS})`);
  for (const [key] of db.all(`SELECT key FROM main.rows WHERE key IN (${KEYS})`)) existing.add(key as number);
  for (const [name, value] of db.all(`SELECT name, value FROM ${LATE}.sequences`))
    sequences.raise(name as string, value as number);
}

/** Returns the content types of the attached graph, and each of its definitions that this graph has replaced. */
function readDefinitions({ db, names }: GraphContext) {
  const parsed = (text: unknown) => JSON.parse(String(text)) as TypeDefinition;
  const earlier = db
    .all(`SELECT data FROM ${LATE}.definitions ORDER BY position`)
    .map(([text]) => parsed(text));
  const redefined = db
    .all(
      `SELECT late.data, definitions.data FROM main.definitions
       JOIN ${LATE}.definitions AS late USING (uid) WHERE late.data <> definitions.data ORDER BY definitions.position`,
    )
    .map(([before, now]): Redefinition => ({ before: parsed(before), now: parsed(now) }))
    .filter(({ before, now }) => !isSameModel(before, now));
  return { redefined, before: createSchemaView(registryOfDefinitions(earlier), names) };
}
