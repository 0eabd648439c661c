import type { GraphDatabase } from './graph-database.ts';
import type { LinkOrder } from './link.ts';
import { type VersionNumber, type WorldNumber, worldsOf } from './row-keys.ts';

const WORLD = ['draft', 'published'] as const;
const ORDERS = `draft_source_order, draft_target_order, published_source_order, published_target_order`;
const RESTORED = `SELECT source, target, ${ORDERS} FROM kept_links JOIN entries ON entries.id = target
  WHERE relation = ? AND type = ?`;
const FORGET = `DELETE FROM kept_links WHERE relation = ?
  AND target IN (SELECT id FROM entries WHERE type = ?)`;
const GONE = 'draft_source_order IS NULL AND published_source_order IS NULL';

/** A link of a content type's relation that the definition in force does not show. */
export type KeptLink = {
  readonly source: number;
  readonly target: number;
  readonly orders: readonly [draft: LinkOrder | null, published: LinkOrder | null];
};

/** Links of a graph's file that no definition shows. */
export type KeptLinks = ReturnType<typeof openKeptLinks>;

/** Reads which entries have kept links. Each change is written at once, in the transaction of the events, and also behind. */
export function openKeptLinks(db: GraphDatabase) {
  const sources = new Set<number>();
  const load = (): void => {
    sources.clear();
    for (const [source] of db.all('SELECT DISTINCT source FROM kept_links')) sources.add(source as number);
  };
  load();
  return {
    /** Keeps the links of a relation in the file. Must not run behind. */
    keep(relation: number): void {
      db.run(
        `INSERT OR REPLACE INTO kept_links SELECT source, relation, target, ${ORDERS} FROM links
          WHERE relation = ? AND component = 0`,
        relation,
      );
      load();
    },
    /** Removes the kept links of a relation to entries of a type, both by number, and returns them. */
    take(relation: number, targetType: number): readonly KeptLink[] {
      if (sources.size === 0) return [];
      const found = db.all(`${RESTORED} ORDER BY source, target`, relation, targetType);
      db.run(FORGET, relation, targetType);
      return found.map((row) => {
        const [source, target, ...orders] = row as readonly number[];
        return {
          source: source as number,
          target: target as number,
          orders: [orderOf(orders[0], orders[1]), orderOf(orders[2], orders[3])],
        };
      });
    },
    /** Called when the owner's relation was edited: the kept links are out of date. */
    edited(source: number, relation: number, worlds: readonly WorldNumber[]): void {
      if (!sources.has(source)) return;
      for (const world of worlds)
        db.run(`${clear(world)} WHERE source = ? AND relation = ?`, source, relation);
      db.run(`DELETE FROM kept_links WHERE source = ? AND ${GONE}`, source);
    },
    /** Called when a version has other content. */
    clear(source: number, version: VersionNumber): void {
      if (!sources.has(source)) return;
      for (const world of worldsOf(version)) db.run(`${clear(world)} WHERE source = ?`, source);
      db.run(`DELETE FROM kept_links WHERE source = ? AND ${GONE}`, source);
    },
    /** Called when a row was copied to another version. */
    copy(source: number, from: WorldNumber, to: WorldNumber): void {
      if (!sources.has(source)) return;
      db.run(`${copyOrders(from, to)} WHERE source = ?`, source);
      db.run(`DELETE FROM kept_links WHERE source = ? AND ${GONE}`, source);
    },
    /** Called when an edit of the other end was published or discarded. */
    copyOne(
      link: { readonly source: number; readonly relation: number; readonly target: number },
      from: WorldNumber,
      to: WorldNumber,
    ): void {
      const { source, relation, target } = link;
      if (!sources.has(source)) return;
      db.run(
        `${copyOrders(from, to)} WHERE source = ? AND relation = ? AND target = ?`,
        ...[source, relation, target],
      );
      db.run(`DELETE FROM kept_links WHERE source = ? AND ${GONE}`, source);
    },
    /** Called when an entry was deleted. */
    forgetEntry(entry: number): void {
      if (sources.size === 0) return;
      db.run('DELETE FROM kept_links WHERE source = ?', entry);
      db.run('DELETE FROM kept_links WHERE target = ?', entry);
    },
  };
}

function orderOf(source: number | null | undefined, target: number | null | undefined): LinkOrder | null {
  return source === null || source === undefined
    ? null
    : { sourceOrder: source, targetOrder: target ?? source };
}

function clear(world: WorldNumber): string {
  return `UPDATE kept_links SET ${WORLD[world]}_source_order = NULL, ${WORLD[world]}_target_order = NULL`;
}

function copyOrders(from: WorldNumber, to: WorldNumber): string {
  const [source, target] = [WORLD[from], WORLD[to]];
  return `UPDATE kept_links SET ${target}_source_order = ${source}_source_order, ${target}_target_order = ${source}_target_order`;
}
