import type { ChangeLog } from './change-log.ts';
import type { GraphDatabase, SqlRow, SqlValue } from './graph-database.ts';
import type { GraphRelation } from './graph-relation.ts';
import { type LinkEnds, type LinkOrder, sameOrder } from './link.ts';
import {
  isGone,
  type LinkKey,
  openPendingLinks,
  type PendingLink,
  type PendingLinks,
  type WorldOrders,
} from './pending-links.ts';
import { BOTH_WORLDS, type WorldNumber } from './row-keys.ts';

/** A link in both worlds, to be changed in place and saved. */
export type LinkRecord = LinkEnds & {
  /** Order in each world; null: not linked there. */
  readonly orders: [draft: LinkOrder | null, published: LinkOrder | null];
  /** Stored state; undefined = not stored. */
  stored: WorldOrders | undefined;
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
  /** All links that begin or end at an entry, with the links that it owns first. */
  around(entry: number): LinkRecord[];
  /** Finds the link between two entries; without orders if there is none. */
  find(relation: GraphRelation, source: number, target: number): LinkRecord;
  /** Stores differences from the stored link and reports them to the read index. */
  save(record: LinkRecord): void;
  /** Writes saved links. Must run in the transaction of the events. */
  flush(): void;
};

const COLUMNS = `source, relation, component, target,
  draft_source_order, draft_target_order, published_source_order, published_target_order`;
const OF_SOURCE = `SELECT ${COLUMNS} FROM links WHERE source = ? AND relation = ? AND component = ?`;
const OF_TARGET = `SELECT ${COLUMNS} FROM links WHERE target = ? AND relation = ?`;
const OWNED_BY = `SELECT ${COLUMNS} FROM links WHERE source = ?`;
const POINTING_AT = `SELECT ${COLUMNS} FROM links WHERE target = ?`;
const FIND = `SELECT ${COLUMNS} FROM links WHERE source = ? AND relation = ? AND component = ? AND target = ?`;

export const ALL_LINKS = `SELECT ${COLUMNS} FROM links WHERE source >= ? AND source < ? ORDER BY source, relation, component, target`;

type RelationOfNumber = (number: number) => GraphRelation | undefined;

/** Creates the store of links. `isFresh`: returns whether the file has nothing about an entry yet. */
export function createLinkStore(
  db: GraphDatabase,
  relationOf: RelationOfNumber,
  changes: ChangeLog,
  isFresh: (entry: number) => boolean,
): LinkStore {
  const pending = openPendingLinks(db);
  const ownedBy = (source: number): LinkRecord[] =>
    current(isFresh(source) ? [] : db.all(OWNED_BY, source), pending.ofSource(source)).sort(bySourceKey);
  const pointingAt = (target: number): LinkRecord[] =>
    current(isFresh(target) ? [] : db.all(POINTING_AT, target), pending.ofTarget(target)).sort(byTargetKey);
  /** Links of an entry as they are now. `rows`: as the file has them. */
  const current = (rows: readonly SqlRow[], changed: readonly PendingLink[]): LinkRecord[] => {
    const stored = rows.map(storedLink);
    if (changed.length === 0) return records(stored, relationOf);
    const unchanged = stored.filter((link) => pending.find(link) === undefined);
    return records([...unchanged, ...changed.filter(({ orders }) => !isGone(orders))], relationOf);
  };
  return {
    ofSource: (relation, source, component) =>
      current(
        isFresh(source) ? [] : db.all(OF_SOURCE, source, relation.id, component),
        pending.ofSource(source).filter((l) => l.relation === relation.id && l.component === component),
      ).sort(bySourceKey),
    ofTarget: (relation, target) =>
      current(
        isFresh(target) ? [] : db.all(OF_TARGET, target, relation.id),
        pending.ofTarget(target).filter((link) => link.relation === relation.id),
      ).sort(byTargetKey),
    ownedBy,
    pointingAt,
    around: (entry) => [...ownedBy(entry), ...pointingAt(entry)],
    find(relation, source, target) {
      const isNew = isFresh(source) || isFresh(target);
      const rows = isNew ? [] : db.all(FIND, source, relation.id, 0, target);
      const link = pending.find({ source, relation: relation.id, component: 0, target });
      return current(rows, link === undefined ? [] : [link])[0] ?? newLink(relation, source, 0, target);
    },
    save(record) {
      const { stored, orders } = record;
      const changed = BOTH_WORLDS.filter((world) => !sameOrder(orders[world], stored?.[world] ?? null));
      if (changed.length === 0) return;
      put(pending, record);
      for (const world of changed) changes.link(record, world, orders[world]);
      record.stored = isGone(orders) ? undefined : [orders[0], orders[1]];
    },
    flush: pending.flush,
  };
}

/** Returns every link of a relation. Reads the whole table, as it is in the file. */
export function linksOfRelation(db: GraphDatabase, relation: GraphRelation): LinkRecord[] {
  const rows = db.all(`SELECT ${COLUMNS} FROM links WHERE relation = ?`, relation.id);
  return records(rows.map(storedLink), () => relation);
}

/** Returns a link that exists in no world yet. `component`: id of the component that owns it, 0 if the row itself does. */
export function newLink(
  relation: GraphRelation,
  source: number,
  component: number,
  target: number,
): LinkRecord {
  return { relation, source, component, target, orders: [null, null], stored: undefined };
}

/** Links whose relation is still defined. */
function records(
  links: readonly (LinkKey & { readonly orders: WorldOrders })[],
  relationOf: RelationOfNumber,
): LinkRecord[] {
  const found: LinkRecord[] = [];
  for (const { source, relation: number, component, target, orders } of links) {
    const relation = relationOf(number);
    if (relation === undefined) continue;
    found.push({ relation, source, component, target, orders: [orders[0], orders[1]], stored: orders });
  }
  return found;
}

function storedLink(row: SqlRow): LinkKey & { readonly orders: WorldOrders } {
  const [source, relation, component, target] = row as readonly number[] as [number, number, number, number];
  return {
    source,
    relation,
    component,
    target,
    orders: [readOrder(row[4], row[5]), readOrder(row[6], row[7])],
  };
}

function readOrder(sourceOrder: SqlValue | undefined, targetOrder: SqlValue | undefined): LinkOrder | null {
  return sourceOrder === null
    ? null
    : { sourceOrder: sourceOrder as number, targetOrder: targetOrder as number };
}

/** Adds a changed link. Its source may no longer exist; then the stored state stays. */
function put(pending: PendingLinks, record: LinkRecord): void {
  const { stored, orders, relation, source, component, target } = record;
  const key = { source, relation: relation.id, component, target };
  const found = pending.find(key);
  if (stored !== undefined && found !== undefined && isGone(found.orders)) return;
  pending.put(key, [orders[0], orders[1]], stored !== undefined);
}

/** The order of the primary key, and of the index over targets. */
function bySourceKey(a: LinkRecord, b: LinkRecord): number {
  return a.relation.id - b.relation.id || a.component - b.component || a.target - b.target;
}

function byTargetKey(a: LinkRecord, b: LinkRecord): number {
  return a.relation.id - b.relation.id || a.source - b.source || a.component - b.component;
}

/** Reports links to the read index in each world that has them, with their current state or as removed. */
export function reportLinks(
  changes: ChangeLog,
  records: Iterable<LinkRecord>,
  worlds: readonly WorldNumber[],
  as: 'there' | 'removed',
): void {
  for (const record of records) {
    for (const world of worlds) {
      const order = record.orders[world];
      if (order !== null) changes.link(record, world, as === 'there' ? order : null);
    }
  }
}

/** Removes links from worlds. */
export function removeLinks(
  links: LinkStore,
  records: Iterable<LinkRecord>,
  worlds: readonly WorldNumber[],
): void {
  for (const record of records) {
    for (const world of worlds) record.orders[world] = null;
    links.save(record);
  }
}
