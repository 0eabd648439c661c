import { addToList, valueAt } from '../../../shared/map-values.ts';
import type { GraphDatabase } from './graph-database.ts';
import type { LinkOrder } from './link.ts';

/** Both worlds of a link; null = not linked there. */
export type WorldOrders = readonly [draft: LinkOrder | null, published: LinkOrder | null];

/** Identity of a link. `relation`: its number. */
export type LinkKey = {
  readonly source: number;
  readonly relation: number;
  readonly component: number;
  readonly target: number;
};

/** The state of a link after a batch. */
export type PendingLink = LinkKey & {
  /** Both null: it is removed. */
  orders: WorldOrders;
  /** True if the file has the link, possibly with other orders. */
  readonly isStored: boolean;
};

/** Links that the current batch changed. The file still has their state before the batch. */
export type PendingLinks = ReturnType<typeof openPendingLinks>;

const KEY = 'source = ? AND relation = ? AND component = ? AND target = ?';
const INSERT = `INSERT INTO links (source, relation, component, target, draft_source_order, draft_target_order,
  published_source_order, published_target_order) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const UPDATE = `UPDATE links SET draft_source_order = ?, draft_target_order = ?, published_source_order = ?,
  published_target_order = ? WHERE ${KEY}`;
const DELETE = `DELETE FROM links WHERE ${KEY}`;

const NONE: readonly PendingLink[] = [];

/** Creates an empty set. `flush` writes it in the transaction of the events. */
export function openPendingLinks(db: GraphDatabase) {
  /** Links by source and target. Two entries have few links. */
  const bySource = new Map<number, Map<number, PendingLink[]>>();
  const byTarget = new Map<number, PendingLink[]>();
  const find = ({ source, relation, component, target }: LinkKey): PendingLink | undefined =>
    bySource
      .get(source)
      ?.get(target)
      ?.find((link) => link.relation === relation && link.component === component);
  const add = (link: PendingLink): void => {
    addToList(
      valueAt(bySource, link.source, () => new Map()),
      link.target,
      link,
    );
    addToList(byTarget, link.target, link);
  };
  return {
    find,
    ofSource: (source: number): readonly PendingLink[] => [...(bySource.get(source)?.values() ?? [])].flat(),
    ofTarget: (target: number): readonly PendingLink[] => byTarget.get(target) ?? NONE,
    /** `isStored` counts for a link that is not pending. */
    put(key: LinkKey, orders: WorldOrders, isStored: boolean): void {
      const known = find(key);
      if (known !== undefined) known.orders = orders;
      else add({ ...key, orders, isStored });
    },
    /** Must run in the transaction of the events. */
    flush(): void {
      // Sorts by source, which is cheap, because neighbours in the file are on one page.
      for (const source of [...bySource.keys()].sort((a, b) => a - b)) {
        for (const between of bySource.get(source)?.values() ?? [])
          for (const link of between) write(db, link);
      }
      bySource.clear();
      byTarget.clear();
    },
  };
}

function write(
  db: GraphDatabase,
  { source, relation, component, target, orders, isStored }: PendingLink,
): void {
  if (isGone(orders)) {
    if (isStored) db.run(DELETE, source, relation, component, target);
    return;
  }
  const draft = orders[0] ?? NO_ORDER;
  const published = orders[1] ?? NO_ORDER;
  const [a, b, c, d] = [draft.sourceOrder, draft.targetOrder, published.sourceOrder, published.targetOrder];
  if (isStored) db.run(UPDATE, a, b, c, d, source, relation, component, target);
  else db.run(INSERT, source, relation, component, target, a, b, c, d);
}

const NO_ORDER = { sourceOrder: null, targetOrder: null } as const;

/** Returns whether a link is absent in both worlds. */
export function isGone([draft, published]: WorldOrders): boolean {
  return draft === null && published === null;
}
