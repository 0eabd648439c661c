import type { LinkPlace, LinkTarget, RelationOperation } from '../../../shared/document/events.ts';
import { valueAt } from '../../../shared/map-values.ts';
import { type GraphRelationSide, isToOne } from '../store/graph-relation.ts';
import { type LinkOrder, pairKey } from '../store/link.ts';
import { type LinkRecord, type LinkStore, newLink } from '../store/link-store.ts';
import { farOf, inOrderOf, linksOfSide, nearOrder } from '../store/linked-entries.ts';
import type { WorldNumber } from '../store/row-keys.ts';

/**
 * One entry's end of a relation, which is edited in some worlds. The near end is that of the entry. The far end is that of the linked
 * entries.
 */
export type RelationEdit = {
  readonly side: GraphRelationSide;
  readonly entry: number;
  readonly worlds: readonly WorldNumber[];
  /** The entry has no links yet: nothing needs to be read. */
  readonly isNew: boolean;
};

export type RelationEditing = {
  readonly links: LinkStore;
  /** Returns ever greater numbers, so that a new link is always the last one. */
  nextOrder(): number;
  entryOf(side: GraphRelationSide, target: LinkTarget): number;
};

/** Links that one operation changes. They are saved at its end. */
type TouchedLinks = Map<string | number, LinkRecord>;

/** The links, and those of them that are changed so far. */
type ChangingLinks = { readonly links: LinkStore; readonly touched: TouchedLinks };

/** An operation in progress on one end of a relation. */
type Operation = RelationEditing & ChangingLinks & { readonly edit: RelationEdit };

function linkKey(record: LinkRecord): string | number {
  return pairKey(record.source, record.target);
}

/**
 * Applies an operation and returns every link that it touched, also those of other entries. On a relation with a single side, connecting
 * removes the target's previous link (SEMANTICS section 13).
 */
export function applyRelationOperation(
  editing: RelationEditing,
  edit: RelationEdit,
  operation: RelationOperation,
): readonly LinkRecord[] {
  const touched: TouchedLinks = new Map();
  const running: Operation = { ...editing, edit, touched };
  if (operation.kind === 'set' || isToOne(edit.side) || edit.isNew) {
    replaceTargets(running, operation);
  } else {
    updateTargets(running, operation);
  }
  for (const record of touched.values()) editing.links.save(record);
  return [...touched.values()];
}

/** Applies `set`, or an operation with the same effect: any operation on a to-one end or on a new entry. */
function replaceTargets(running: Operation, operation: RelationOperation): void {
  const { edit, touched } = running;
  const near = edit.isNew ? [] : linksOfSide(running.links, edit.side, edit.entry);
  const byFar = new Map(near.map((record) => [farOf(edit.side, record), record]));
  for (const world of edit.worlds) {
    const before = inOrderOf(edit.side, world, near);
    const beforeFars = before.map((record) => farOf(edit.side, record));
    const desired = desiredTargets(running, edit.side, operation, beforeFars);
    if (sameList(desired, beforeFars)) continue;
    if (before.length > 0) {
      const kept = new Set(desired);
      for (const record of before)
        if (!kept.has(farOf(edit.side, record))) setOrder(record, world, null, touched);
    }
    for (const far of desired) {
      const record = valueAt(byFar, far, () => linkBetween(edit, far));
      connect(running, record, world, running.nextOrder());
    }
  }
}

/** Returns the entries at the far ends after an operation, in order; for a to-one end, only the last of them. */
export function desiredTargets(
  editing: Pick<RelationEditing, 'entryOf'>,
  side: GraphRelationSide,
  operation: RelationOperation,
  before: readonly number[],
): readonly number[] {
  const fars = listedTargets(editing, side, operation, before);
  return isToOne(side) ? fars.slice(-1) : fars;
}

function listedTargets(
  { entryOf }: Pick<RelationEditing, 'entryOf'>,
  side: GraphRelationSide,
  operation: RelationOperation,
  before: readonly number[],
): readonly number[] {
  const farsOf = (targets: readonly LinkTarget[]) => targets.map((target) => entryOf(side, target));
  if (operation.kind === 'set') return [...new Set(farsOf(operation.targets))];
  const removed = new Set(farsOf(operation.disconnect));
  const list = before.filter((far) => !removed.has(far));
  for (const { target, place } of operation.connect) {
    const far = entryOf(side, target);
    const at = list.indexOf(far);
    if (at >= 0) list.splice(at, 1);
    const reference = isRelative(place) ? list.indexOf(entryOf(side, place)) : -1;
    list.splice(insertionIndex(place, reference, list.length), 0, far);
  }
  return list;
}

type RelativePlace = LinkPlace & { readonly at: 'before' | 'after' };

function isRelative(place: LinkPlace): place is RelativePlace {
  return place.at === 'before' || place.at === 'after';
}

/** Returns the index at which a new link is inserted. It is the end if the reference of `before` or `after` no longer exists. */
function insertionIndex(place: LinkPlace, reference: number, length: number): number {
  if (place.at === 'start') return 0;
  if (place.at === 'end' || reference < 0) return length;
  return place.at === 'before' ? reference : reference + 1;
}

/** Applies `connect` and `disconnect` on a to-many end. Touches only the named links, however many others there are. */
function updateTargets(running: Operation, operation: RelationOperation & { kind: 'update' }): void {
  const { edit, touched } = running;
  const placed = operation.connect.some(({ place }) => place.at !== 'end');
  const near = placed ? linksOfSide(running.links, edit.side, edit.entry) : [];
  const byFar = new Map(near.map((record) => [farOf(edit.side, record), record]));
  const find = (target: LinkTarget): LinkRecord => {
    const far = running.entryOf(edit.side, target);
    return valueAt(byFar, far, () =>
      placed ? linkBetween(edit, far) : running.links.find(edit.side.relation, ...endsOf(edit, far)),
    );
  };
  const connected = new Set(operation.connect.map(({ target }) => find(target)));
  for (const world of edit.worlds) {
    for (const target of operation.disconnect) {
      const record = find(target);
      // Connecting again is a move: the far end keeps its order.
      if (!connected.has(record)) setOrder(record, world, null, touched);
    }
    // Sorted once: a body may have thousands of slots.
    const list = placed ? inOrderOf(edit.side, world, byFar.values()) : [];
    for (const { target, place } of operation.connect) {
      const record = find(target);
      const order = placed ? moveTo(running, { place, world }, record, list) : running.nextOrder();
      connect(running, record, world, order);
    }
  }
}

/** A slot in the list of a world. */
type Slot = { readonly place: LinkPlace; readonly world: WorldNumber };

/** Moves a link to a slot in `list`, which is in order, and returns the order key of the slot. */
function moveTo(running: Operation, { place, world }: Slot, moved: LinkRecord, list: LinkRecord[]): number {
  const { edit } = running;
  const before = list.indexOf(moved);
  if (before >= 0) list.splice(before, 1);
  const referenced = isRelative(place) ? running.entryOf(edit.side, place) : undefined;
  const reference = list.findIndex((record) => farOf(edit.side, record) === referenced);
  const index = insertionIndex(place, reference, list.length);
  const order = orderAt(running, world, list, index);
  list.splice(index, 0, moved);
  return order;
}

/** Returns an order key between two neighbours of a list. Renumbers the list if no key is free. */
function orderAt(running: Operation, world: WorldNumber, list: readonly LinkRecord[], index: number): number {
  const { edit } = running;
  const [left, right] = [list[index - 1], list[index]];
  if (right === undefined) return running.nextOrder();
  const upper = nearOrder(edit.side, right, world);
  if (left === undefined) return upper - 1;
  const lower = nearOrder(edit.side, left, world);
  const middle = (lower + upper) / 2;
  if (middle > lower && middle < upper) return middle;
  let order = 0;
  for (const [at, record] of list.entries()) {
    if (at === index) order = running.nextOrder();
    connect(running, record, world, running.nextOrder());
  }
  return order;
}

/**
 * Links the record at its near order. A new link goes to the end of the far end's list. It replaces the previous link if that end is
 * single.
 */
function connect(running: Operation, record: LinkRecord, world: WorldNumber, near: number): void {
  const { edit, touched } = running;
  const before = record.orders[world];
  const owner = edit.side.side === 'owner';
  const far = before === null ? near : owner ? before.targetOrder : before.sourceOrder;
  setOrder(
    record,
    world,
    owner ? { sourceOrder: near, targetOrder: far } : { sourceOrder: far, targetOrder: near },
    touched,
  );
  if (before === null) evictOthers(running, record, owner ? 'target' : 'source', world);
}

/** Removes other links of the far end of the new link, if that end is single. */
function evictOthers(
  { links, touched }: ChangingLinks,
  record: LinkRecord,
  end: 'source' | 'target',
  world: WorldNumber,
): void {
  const { relation, source, target } = record;
  if (end === 'target' ? !relation.exclusive : !relation.toOne) return;
  const all = end === 'target' ? links.ofTarget(relation, target) : links.ofSource(relation, source, 0);
  for (const other of all) {
    if (other.source === source && other.target === target) continue;
    // This operation may already have changed the same link, without saving it yet.
    setOrder(touched.get(linkKey(other)) ?? other, world, null, touched);
  }
}

/** A copy from one world to the other. `only`: copies only these attributes. */
export type WorldCopy = {
  readonly from: WorldNumber;
  readonly to: WorldNumber;
  readonly only?: ReadonlySet<string>;
};

/** Copies a link's state; both single ends lose their previous links. */
export function copyLink(links: LinkStore, record: LinkRecord, { from, to }: WorldCopy): void {
  const touched: TouchedLinks = new Map();
  const isAdded = record.orders[to] === null && record.orders[from] !== null;
  record.orders[to] = record.orders[from];
  touched.set(linkKey(record), record);
  if (isAdded && record.component === 0) {
    evictOthers({ links, touched }, record, 'target', to);
    evictOthers({ links, touched }, record, 'source', to);
  }
  for (const link of touched.values()) links.save(link);
}

function setOrder(
  record: LinkRecord,
  world: WorldNumber,
  order: LinkOrder | null,
  touched: TouchedLinks,
): void {
  if (order === null && record.orders[world] === null) return;
  record.orders[world] = order;
  touched.set(linkKey(record), record);
}

function linkBetween(edit: RelationEdit, far: number): LinkRecord {
  const [source, target] = endsOf(edit, far);
  return newLink(edit.side.relation, source, 0, target);
}

function endsOf({ side, entry }: RelationEdit, far: number): readonly [source: number, target: number] {
  return side.side === 'owner' ? [entry, far] : [far, entry];
}

/** Returns whether two lists have the same entries in the same order. */
export function sameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
