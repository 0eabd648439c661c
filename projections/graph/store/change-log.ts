import { valueAt } from '../../../shared/map-values.ts';
import {
  type ChangeBatch,
  type IndexedRow,
  type LinkChange,
  type RowChange,
  type RowSet,
  WORLDS,
} from '../../../shared/read-index/read-index.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import { type LinkEnds, type LinkOrder, pairKey } from './link.ts';
import {
  type ExistingRows,
  rowKeyIn,
  VERSIONS,
  versionOfKey,
  type WorldNumber,
  worldNumber,
} from './row-keys.ts';

/** The last state of a link in a batch, and the content type rows it depends on. */
type LinkEmission = { readonly change: LinkChange; readonly sourceRow: number; readonly targetRow: number };

/** A link that a batch touched, also one whose rows no longer exist at its end. */
export type LinkEffect = {
  /** The relation's number, or `localesName`. */
  readonly relation: string;
  readonly world: WorldNumber;
  readonly sourceRow: number;
  readonly targetRow: number;
};

/** A row that a batch touched. `changed`: the columns and component attributes that it changed; undefined: any of them. */
export type RowEffect = {
  readonly type: Uid;
  readonly key: number;
  readonly changed: ReadonlySet<string> | undefined;
};

/** Rows and links that a batch touched: their documents, if there are any, become stale. */
export type Effects = {
  readonly rows: readonly RowEffect[];
  readonly links: readonly LinkEffect[];
};

/** Collects the net effect of a batch of events on rows and links, for the read index. */
export type ChangeLog = {
  /** False if nothing is collected, because there is no index. */
  readonly isListening: boolean;
  /** True if rows come with their changed columns. */
  readonly isComparing: boolean;
  listen(listening: boolean, comparing?: boolean): void;
  /** Records the state of a row; null: it does not exist. */
  row(
    row: Omit<RowEffect, 'changed'> & { readonly row: IndexedRow | null },
    changed?: ReadonlySet<string>,
  ): void;
  /** Records the state of a link in a world. It is passed on only while both rows exist there. */
  link(record: LinkEnds, world: WorldNumber, order: LinkOrder | null): void;
  localization(type: Uid, world: WorldNumber, rows: LinkedRows, rank: number | null): void;
  /** Effects since the last `take`. */
  effects(): Effects;
  take(position: bigint): ChangeBatch;
};

/** Creates an empty log that listens. When `take` is called, `existing` must have the state after the batch. */
export function createChangeLog(existing: ExistingRows): ChangeLog {
  let rows = new Map<number, RowChange>();
  let changedColumns = new Map<number, ReadonlySet<string> | undefined>();
  /** Links by relation and world, so that the index gets the changes of a relation together. */
  let links = new Map<string | number, Map<string | number, LinkEmission>>();
  const emit = (relation: string | number, emission: LinkEmission): void => {
    const run = valueAt(links, relation, () => new Map());
    run.set(pairKey(emission.change.source, emission.change.target), emission);
  };
  let isListening = true;
  let isComparing = false;
  return {
    get isListening() {
      return isListening;
    },
    get isComparing() {
      return isComparing;
    },
    listen(listening, comparing = false) {
      isListening = listening;
      isComparing = comparing;
    },
    row({ type, key, row }, changed) {
      if (!isListening) return;
      changedColumns.set(key, rows.has(key) ? undefined : changed);
      rows.set(key, { type, version: VERSIONS[versionOfKey(key)], key, row });
    },
    link(record, world, order) {
      const { relation } = record;
      if (!isListening || !relation.served) return;
      const { sourceRow, targetRow } = linkRows(record, world);
      if (!existing.has(sourceRow) || !existing.has(targetRow)) return;
      emit(relation.id * 2 + world, { change: linkChange(record, world, order), sourceRow, targetRow });
    },
    localization(type, world, rows, rank) {
      if (!isListening) return;
      const { source, target } = rows;
      const change = localizationChange(type, world, rows, rank);
      emit(`${type}/${world}`, { change, sourceRow: source, targetRow: target });
    },
    effects: () => ({
      rows: [...rows.values()].map(({ type, key }) => ({ type, key, changed: changedColumns.get(key) })),
      links: [...links].flatMap(linkEffects),
    }),
    take(position) {
      const batch = { position, rows: [...rows.values()], links: existingLinks(links.values(), existing) };
      rows = new Map();
      changedColumns = new Map();
      links = new Map();
      return batch;
    },
  };
}

function linkEffects([name, run]: readonly [
  string | number,
  ReadonlyMap<string | number, LinkEmission>,
]): readonly LinkEffect[] {
  const isRelation = typeof name === 'number';
  return [...run.values()].map(({ change, sourceRow, targetRow }) => ({
    relation: isRelation ? String(Math.floor(name / 2)) : localesName(change.rowSet.type),
    world: worldNumber(change.world),
    sourceRow,
    targetRow,
  }));
}

/** Key for links between a type's locales; relations use their number. */
export function localesName(type: Uid): string {
  return `locales of ${type}`;
}

/** Returns the links whose rows still exist. The other links were removed with their rows. */
function existingLinks(
  runs: Iterable<ReadonlyMap<string | number, LinkEmission>>,
  existing: ExistingRows,
): readonly LinkChange[] {
  const changes: LinkChange[] = [];
  for (const run of runs) {
    for (const { change, sourceRow, targetRow } of run.values()) {
      if (existing.has(sourceRow) && existing.has(targetRow)) changes.push(change);
    }
  }
  return changes;
}

/** Returns the keys of the rows at the ends of a link in a world, whether or not the rows exist. */
export function linkRows({ relation, source, target }: LinkEnds, world: WorldNumber) {
  return {
    sourceRow: rowKeyIn(world, relation.sourceDraftAndPublish, source),
    targetRow: rowKeyIn(world, relation.targetDraftAndPublish, target),
  };
}

/** Returns the change of a link for the read index. `order` null removes it. A component's link begins at the component. */
export function linkChange(record: LinkEnds, world: WorldNumber, order: LinkOrder | null): LinkChange {
  const { sourceRow, targetRow } = linkRows(record, world);
  return {
    rowSet: record.relation.rowSet,
    attribute: record.relation.attribute,
    world: WORLDS[world],
    source: record.component === 0 ? sourceRow : record.component,
    target: targetRow,
    order,
  };
}

const rowSets = new Map<Uid, RowSet>();

/** Keys of the rows at the two ends of a link. */
export type LinkedRows = { readonly source: number; readonly target: number };

/** Returns the change of the link between two rows of a document in one world. Such links are in the order of locales. */
export function localizationChange(
  type: Uid,
  world: WorldNumber,
  { source, target }: LinkedRows,
  rank: number | null,
): LinkChange {
  const rowSet = valueAt(rowSets, type, () => ({ type, path: [] }));
  const order = rank === null ? null : { sourceOrder: rank, targetOrder: rank };
  return { rowSet, attribute: 'localizations', world: WORLDS[world], source, target, order };
}
