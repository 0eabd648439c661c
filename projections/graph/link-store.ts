import type { ChangeLog } from './change-log.ts';
import type { GraphDatabase, SqlRow, SqlValue } from './graph-database.ts';
import type { GraphRelation } from './graph-relation.ts';
import { type LinkEnds, type LinkOrder, sameOrder } from './link.ts';
import { DRAFT, PUBLISHED, type WorldNumber } from './row-keys.ts';

/** A link in both worlds, to be changed in place and saved. */
export type LinkRecord = LinkEnds & {
  /** By world; null = not linked there. */
  readonly orders: [draft: LinkOrder | null, published: LinkOrder | null];
  /** As stored; undefined = not stored. */
  stored: readonly [LinkOrder | null, LinkOrder | null] | undefined;
};

export type LinkStore = {
  /** Links of one relation from a source. */
  ofSource(relation: GraphRelation, source: number, component: number): LinkRecord[];
  /** Links of one relation to a target. */
  ofTarget(relation: GraphRelation, target: number): LinkRecord[];
  /** All links that an entry and its components own. */
  ownedBy(source: number): LinkRecord[];
  /** All links to an entry. */
  pointingAt(target: number): LinkRecord[];
  /** The link between two entries, with no orders when there is none. */
  find(relation: GraphRelation, source: number, target: number): LinkRecord;
  /** Writes what differs from the stored link and reports it to the read index. */
  save(record: LinkRecord): void;
};

const COLUMNS = `source, relation, component, target,
  draft_source_order, draft_target_order, published_source_order, published_target_order`;
const BY_PRIMARY_KEY = 'source = ? AND relation = ? AND component = ? AND target = ?';
const OF_SOURCE = `SELECT ${COLUMNS} FROM links WHERE source = ? AND relation = ? AND component = ?`;
const OF_TARGET = `SELECT ${COLUMNS} FROM links WHERE target = ? AND relation = ?`;
const OWNED_BY = `SELECT ${COLUMNS} FROM links WHERE source = ?`;
const POINTING_AT = `SELECT ${COLUMNS} FROM links WHERE target = ?`;
const FIND = `SELECT ${COLUMNS} FROM links WHERE ${BY_PRIMARY_KEY}`;
const INSERT = `INSERT INTO links (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const UPDATE = `UPDATE links SET draft_source_order = ?, draft_target_order = ?, published_source_order = ?,
  published_target_order = ? WHERE ${BY_PRIMARY_KEY}`;
const DELETE = `DELETE FROM links WHERE ${BY_PRIMARY_KEY}`;

export const ALL_LINKS = `SELECT ${COLUMNS} FROM links WHERE source >= ? AND source < ? ORDER BY source, relation, component, target`;

type RelationOfNumber = (number: number) => GraphRelation | undefined;

export function createLinkStore(
  db: GraphDatabase,
  relationOf: RelationOfNumber,
  changes: ChangeLog,
): LinkStore {
  const read = (rows: readonly SqlRow[]): LinkRecord[] => {
    const records: LinkRecord[] = [];
    for (const row of rows) {
      const record = readLink(row, relationOf);
      if (record !== undefined) records.push(record);
    }
    return records;
  };
  return {
    ofSource: (relation, source, component) => read(db.all(OF_SOURCE, source, relation.id, component)),
    ofTarget: (relation, target) => read(db.all(OF_TARGET, target, relation.id)),
    ownedBy: (source) => read(db.all(OWNED_BY, source)),
    pointingAt: (target) => read(db.all(POINTING_AT, target)),
    find(relation, source, target) {
      const row = db.get(FIND, source, relation.id, 0, target);
      const record = row === undefined ? undefined : readLink(row, relationOf);
      return record ?? newLink(relation, source, 0, target);
    },
    save(record) {
      const before = record.stored;
      write(db, record);
      for (const world of [DRAFT, PUBLISHED] as const) {
        const order = record.orders[world];
        if (!sameOrder(order, before?.[world] ?? null)) changes.link(record, world, order);
      }
      record.stored = isLinked(record) ? [record.orders[0], record.orders[1]] : undefined;
    },
  };
}

/** Every link of a relation. Reads the whole table. */
export function linksOfRelation(db: GraphDatabase, relation: GraphRelation): LinkRecord[] {
  return db
    .all(`SELECT ${COLUMNS} FROM links WHERE relation = ?`, relation.id)
    .map((row) => readLink(row, () => relation))
    .filter((record) => record !== undefined);
}

export function newLink(
  relation: GraphRelation,
  source: number,
  component: number,
  target: number,
): LinkRecord {
  return { relation, source, component, target, orders: [null, null], stored: undefined };
}

/** undefined when the relation is no longer defined. */
function readLink(row: SqlRow, relationOf: RelationOfNumber): LinkRecord | undefined {
  const relation = relationOf(row[1] as number);
  if (relation === undefined) return undefined;
  const draft = readOrder(row[4], row[5]);
  const published = readOrder(row[6], row[7]);
  return {
    relation,
    source: row[0] as number,
    component: row[2] as number,
    target: row[3] as number,
    orders: [draft, published],
    stored: [draft, published],
  };
}

function readOrder(sourceOrder: SqlValue | undefined, targetOrder: SqlValue | undefined): LinkOrder | null {
  return sourceOrder === null
    ? null
    : { sourceOrder: sourceOrder as number, targetOrder: targetOrder as number };
}

function write(db: GraphDatabase, record: LinkRecord): void {
  const { stored, orders } = record;
  const key = [record.source, record.relation.id, record.component, record.target] as const;
  const linked = isLinked(record);
  if (stored === undefined) {
    if (linked) db.run(INSERT, ...key, ...orderValues(orders[0]), ...orderValues(orders[1]));
  } else if (!linked) {
    db.run(DELETE, ...key);
  } else if (!sameOrder(stored[0], orders[0]) || !sameOrder(stored[1], orders[1])) {
    db.run(UPDATE, ...orderValues(orders[0]), ...orderValues(orders[1]), ...key);
  }
}

function orderValues(order: LinkOrder | null): readonly [SqlValue, SqlValue] {
  return order === null ? [null, null] : [order.sourceOrder, order.targetOrder];
}

function isLinked({ orders }: LinkRecord): boolean {
  return orders[0] !== null || orders[1] !== null;
}

/** Which worlds the link is in. */
export function isIn(record: LinkRecord, world: WorldNumber): boolean {
  return record.orders[world] !== null;
}
