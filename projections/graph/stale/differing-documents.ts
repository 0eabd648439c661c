import { transaction } from '../../../shared/sqlite/transaction.ts';
import { type Effects, type LinkEffect, linkRows } from '../store/change-log.ts';
import type { GraphDatabase, SqlRow } from '../store/graph-database.ts';
import { BOTH_WORLDS } from '../store/row-keys.ts';
import type { SchemaView } from '../store/type-view.ts';
import type { createFanOut } from './fan-out.ts';
import type { StaleRows } from './stale-rows.ts';

/** Schema name of the attached graph. */
const OTHER = 'other';

/** Maximum number of entries and of links that differ. With more of them it takes less time to make every document. */
const MOST_DIFFERENCES = 10_000;

const NEW = `SELECT key FROM main.rows WHERE key NOT IN (SELECT key FROM ${OTHER}.rows)`;
const GONE = `SELECT key FROM ${OTHER}.rows WHERE key NOT IN (SELECT key FROM main.rows)`;
const DIFFERENT_ROWS = `
  SELECT own.key FROM main.rows AS own JOIN ${OTHER}.rows AS their USING (key)
    WHERE (own.type, own.position, own.source, own.hidden, own.components)
      IS NOT (their.type, their.position, their.source, their.hidden, their.components)
  UNION ALL ${NEW} UNION ALL ${GONE}`;
/** Takes whole documents, because a row shows the other locales of its document. */
const DIFFERENT_ENTRIES = `
  SELECT DISTINCT shown.id, shown.type FROM (${DIFFERENT_ROWS}) AS row
  JOIN main.entries AS changed ON changed.id = row.key / 4
  JOIN main.entries AS shown ON shown.document_id = changed.document_id AND shown.type = changed.type
  LIMIT ${MOST_DIFFERENCES + 1}`;
const ROWS_OF_ENTRY = ['main', OTHER]
  .map((graph) => `SELECT key FROM ${graph}.rows WHERE key BETWEEN ? AND ?`)
  .join(' UNION ');
const ENDS = 'source, relation, component, target';
const NEW_OR_GONE = `SELECT key / 4 FROM (${NEW} UNION ALL ${GONE})`;
/** A link also counts as different if only a row at one of its ends is new or gone. */
const DIFFERENT_LINKS = `
  SELECT ${ENDS} FROM (SELECT * FROM main.links EXCEPT SELECT * FROM ${OTHER}.links)
  UNION SELECT ${ENDS} FROM (SELECT * FROM ${OTHER}.links EXCEPT SELECT * FROM main.links)
  UNION SELECT ${ENDS} FROM main.links WHERE source IN (${NEW_OR_GONE})
  UNION SELECT ${ENDS} FROM main.links WHERE target IN (${NEW_OR_GONE})
  LIMIT ${MOST_DIFFERENCES + 1}`;
/** Types and relations have numbers. Both graphs number them as they define them. */
const OTHER_NUMBERS = `SELECT 1 FROM main.names AS own JOIN ${OTHER}.names AS their USING (id) WHERE own.name <> their.name`;

type MarkedGraph = {
  readonly db: GraphDatabase;
  readonly context: () => { readonly schema: SchemaView };
  readonly position: () => bigint;
};

type Marks = { readonly fanOut: ReturnType<typeof createFanOut>; readonly stale: StaleRows };

/**
 * Takes over the marks and the refused documents of another graph's file, from which the documents of an index were made. Then marks each
 * document that is different in this graph. Both graphs have the same content types and are made from one history, the other one from a part of it.
 */
export function markDifferences(
  { db, context, position }: MarkedGraph,
  file: string,
  { fanOut, stale }: Marks,
): void {
  const { connection } = db;
  const change = { since: Number(position()), position: Number(position()) };
  connection.prepare(`ATTACH ? AS ${OTHER}`).run(file);
  try {
    transaction(connection, () => {
      for (const table of ['stale', 'parked'])
        connection.exec(
          `DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM ${OTHER}.${table}`,
        );
      const { schema } = context();
      const differences = findDifferences(db, schema);
      if (differences !== undefined) fanOut.mark(schema, differences, change);
      else stale.markTypes([...schema.registry.contentTypes.keys()], change);
    });
  } finally {
    connection.exec(`DETACH ${OTHER}`);
  }
}

/**
 * Returns the rows and links in which the graph and the attached one differ. Returns undefined if they differ in too many, or if their
 * numbers differ.
 */
function findDifferences(db: GraphDatabase, schema: SchemaView): Effects | undefined {
  if (db.get(OTHER_NUMBERS) !== undefined) return undefined;
  const entries = db.all(DIFFERENT_ENTRIES) as number[][];
  const links = db.all(DIFFERENT_LINKS);
  if (Math.max(entries.length, links.length) > MOST_DIFFERENCES) return undefined;
  const rows = entries.flatMap(([entry = 0, type = 0]) => {
    const { uid } = schema.typeOfNumber(type);
    const [first, last] = [entry * 4, entry * 4 + 3];
    const keys = db.all(ROWS_OF_ENTRY, first, last, first, last) as number[][];
    return keys.map(([key = 0]) => ({ type: uid, key, changed: undefined }));
  });
  return { rows, links: links.flatMap((link) => linkEffects(schema, link)) };
}

function linkEffects(schema: SchemaView, link: SqlRow): readonly LinkEffect[] {
  const [source, number, component, target] = link as readonly number[] as [number, number, number, number];
  const relation = schema.relationOfNumber(number);
  if (relation === undefined) return [];
  return BOTH_WORLDS.map((world) => ({
    relation: String(number),
    world,
    ...linkRows({ relation, source, component, target }, world),
  }));
}
