import type { LinkTarget } from '../../../shared/document/events.ts';
import type { Neighbours } from '../../../shared/read-index/document-index.ts';
import {
  type ChangeBatch,
  type LinkChange,
  WORLDS,
  type World,
} from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import { linkChange, linkRows, localizationChange } from '../store/change-log.ts';
import type { LinkRecord } from '../store/link-store.ts';
import { entryOfKey, VERSIONS, versionOfKey, type WorldNumber, worldsOf } from '../store/row-keys.ts';
import { rowsOfDocument } from './document-rows.ts';
import type { ReaderContext } from './graph-reader.ts';
import { readNeighbours } from './read-neighbours.ts';

/** The graph row by row, for comparing an index with it. All results are valid only until the graph changes. */
export type GraphInspection = {
  world(world: World): Neighbours;
  /** Returns the next rows after a key, in the order of keys; an empty list at the end. */
  rowsAfter(key: number, limit: number): readonly InspectedRow[];
  /** Document and locale of a row, whether or not it exists; undefined if the log has no such document. */
  nameOf(key: number): LinkTarget | undefined;
  /** Returns changes that correct an index, whatever state of the row it has. Apply them in order, without other changes in between. */
  changesOf(row: InspectedRow): readonly ChangeBatch[];
};

export type InspectedRow = { readonly type: Uid; readonly key: number };

/** The worlds that a row belongs to. */
export function worldsOfKey(key: number): readonly World[] {
  return worldsOf(versionOfKey(key)).map((world) => WORLDS[world]);
}

const ROWS_AFTER = 'SELECT key, type FROM rows WHERE key > ? ORDER BY key LIMIT ?';
const KNOWN = 'SELECT 1 FROM entries WHERE id = ?';

/** Returns the graph as it is at `position`, which its change batches carry. The caller keeps the graph from changing. */
export function inspectGraph(context: ReaderContext, position: bigint): GraphInspection {
  const { db, schema, names } = context;
  const [draft, published] = readNeighbours(context);
  return {
    world: (world) => (world === 'draft' ? draft : published),
    rowsAfter: (after, limit) =>
      db
        .all(ROWS_AFTER, after, limit)
        .map(([key, type]) => ({ key: key as number, type: schema.typeOfNumber(type as number).uid })),
    nameOf(key) {
      const entry = entryOfKey(key);
      return db.get(KNOWN, entry) === undefined ? undefined : names.target(entry);
    },
    changesOf({ type, key }) {
      const version = VERSIONS[versionOfKey(key)];
      // A row's links are removed with it, so errors in them are removed too.
      const gone: ChangeBatch = { position, rows: [{ type, version, key, row: null }], links: [] };
      const row = (version === 'draft' ? draft : published).row(type, key);
      if (row === undefined) return [gone];
      return [gone, { position, rows: [{ type, version, key, row }], links: linksOf(context, type, key) }];
    },
  };
}

/** Returns every link that begins or ends at the row. */
function linksOf(context: ReaderContext, type: Uid, key: number): readonly LinkChange[] {
  const entry = entryOfKey(key);
  const records = context.links.around(entry);
  return worldsOf(versionOfKey(key)).flatMap((world) => [
    ...records.flatMap((record) => linkIn(context, record, world)),
    ...localizationsOf(context, type, key, world),
  ]);
}

function linkIn({ existing }: ReaderContext, record: LinkRecord, world: WorldNumber): readonly LinkChange[] {
  const order = record.orders[world];
  if (order === null || !record.relation.served) return [];
  const { sourceRow, targetRow } = linkRows(record, world);
  if (!existing.has(sourceRow) || !existing.has(targetRow)) return [];
  return [linkChange(record, world, order)];
}

function localizationsOf(
  context: ReaderContext,
  type: Uid,
  key: number,
  world: WorldNumber,
): readonly LinkChange[] {
  const view = context.schema.type(type);
  if (!view.localized) return [];
  const { documentId } = context.names.target(entryOfKey(key));
  const rows = rowsOfDocument(context, view, documentId, world);
  return rows.flatMap((target, rank) =>
    target === key
      ? []
      : [
          localizationChange(view.uid, world, { source: key, target }, rank),
          localizationChange(view.uid, world, { source: target, target: key }, rows.indexOf(key)),
        ],
  );
}
