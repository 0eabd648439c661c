import type {
  DocumentName,
  RecordedLink,
  RecordedRows,
  RowStamp,
} from '../../../shared/document/recorded-rows.ts';
import { WORLDS } from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { LinkRecord } from '../store/link-store.ts';
import { linksOfSide } from '../store/linked-entries.ts';
import {
  BOTH_WORLDS,
  rowKey,
  rowKeyIn,
  VERSIONS,
  versionNumber,
  versionOfKey,
  type WorldNumber,
} from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import { type EntryName, entriesOfDocument } from './document-rows.ts';
import type { ReaderContext } from './graph-reader.ts';

// The table of ids also contains earlier ids of rows.
const STAMPS = `SELECT id, key, source ->> 'documentId', source ->> 'locale', source ->> 'id', source ->> 'updatedAt', source ->> 'publishedAt'
  FROM (SELECT ids.id, rows.key, CAST(rows.source AS TEXT) AS source FROM ids JOIN rows ON rows.key = ids.key
    WHERE ids.type = ? AND ids.id > ? ORDER BY ids.id LIMIT ?)`;
const KEYS = 'SELECT DISTINCT key FROM ids WHERE type = ? AND key % 4 = ?';
const NEWEST_ID = 'SELECT max(id) FROM ids WHERE type = ? AND key = ?';
const LINKS_FROM = 'SELECT count(*) FROM (SELECT 1 FROM links WHERE source = ? LIMIT ?)';
const LINKS_TO = 'SELECT count(*) FROM (SELECT 1 FROM links WHERE target = ? LIMIT ?)';
const BATCH = 2_000;

/** Creates the reader of a follower. It asks for `context` at each read, because content types may have changed. */
export function createRecordedRows(context: () => ReaderContext): RecordedRows {
  return {
    *stamps(type) {
      for (let after = -1; ; ) {
        const { db, schema } = context();
        const view = schema.findType(type);
        if (view === undefined) return;
        const rows = db.all(STAMPS, view.number, after, BATCH);
        const current = rows.filter(([id, , , , shown]) => id === shown);
        if (current.length > 0) yield current.map((row) => readStamp(type, row));
        if (rows.length < BATCH) return;
        after = Number(rows.at(-1)?.[0]);
      }
    },
    count(type, version) {
      const { db, schema, existing } = context();
      const keys = db.all(KEYS, schema.type(type).number, versionNumber(version));
      return keys.filter(([key]) => existing.has(Number(key))).length;
    },
    links(type, documentId) {
      const reader = context();
      const view = reader.schema.findType(type);
      if (view === undefined) return [];
      return entriesOfDocument(reader, view, documentId).flatMap((entry) => linksOf(reader, view, entry));
    },
    owners(type, documentId) {
      const { schema, links, names } = context();
      const owners = new Map<string, DocumentName>();
      for (const { id } of entriesOfDocument(context(), schema.type(type), documentId)) {
        for (const { relation, source } of links.pointingAt(id)) {
          const owner = { type: relation.rowSet.type, documentId: names.target(source).documentId };
          owners.set(`${owner.type} ${owner.documentId}`, owner);
        }
      }
      return [...owners.values()];
    },
    hasMoreLinks(type, documentId, limit) {
      const { db, schema } = context();
      const view = schema.findType(type);
      if (view === undefined) return false;
      let count = 0;
      for (const { id } of entriesOfDocument({ db }, view, documentId)) {
        for (const sql of [LINKS_FROM, LINKS_TO]) count += Number(db.get(sql, id, limit + 1)?.[0]);
        if (count > limit) return true;
      }
      return false;
    },
    newestId({ type, documentId, locale, version }) {
      const { db, schema, names } = context();
      const view = schema.findType(type);
      const entry = view && names.find(view.number, documentId, locale);
      if (view === undefined || entry === undefined) return undefined;
      const found = db.get(NEWEST_ID, view.number, rowKey(entry, versionNumber(version)))?.[0];
      return found === null || found === undefined ? undefined : Number(found);
    },
  };
}

function readStamp(type: Uid, row: readonly unknown[]): RowStamp {
  const [id, key, documentId, locale, , updatedAt, publishedAt] = row;
  return {
    type,
    documentId: String(documentId),
    locale: locale as string | null,
    version: VERSIONS[versionOfKey(Number(key))],
    id: Number(id),
    updatedAt: String(updatedAt),
    publishedAt: publishedAt as string | null,
  };
}

function linksOf(context: ReaderContext, view: TypeView, { id, locale }: EntryName): readonly RecordedLink[] {
  const { links, names, existing } = context;
  const found: RecordedLink[] = [];
  for (const attribute of view.type.attributes.values()) {
    if (attribute.kind !== 'relation') continue;
    const shown = view.relation(attribute.name);
    const isOwner = shown.side === 'owner';
    const hasOwner = ({ source }: LinkRecord, world: WorldNumber) =>
      existing.has(rowKeyIn(world, shown.relation.sourceDraftAndPublish, source));
    for (const record of linksOfSide(links, shown, id)) {
      for (const world of BOTH_WORLDS) {
        const order = record.orders[world];
        if (order === null || !(isOwner || hasOwner(record, world))) continue;
        const far = names.target(isOwner ? record.target : record.source);
        found.push({ world: WORLDS[world], locale, attribute: attribute.name, far, ...order });
      }
    }
  }
  return found;
}
