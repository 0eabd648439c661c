import type {
  ChangeBatch,
  IndexedRow,
  LinkChange,
  RowChange,
  RowSpace,
} from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { GraphRelation } from './graph-relation.ts';
import type { LinkOrder, LinkRecord } from './link-store.ts';
import { type ExistingRows, rowKeyIn, VERSIONS, versionOfKey, WORLDS, type WorldNumber } from './row-keys.ts';

/** A link between two rows: what is passed to the index, and the content type rows it depends on. */
type LinkEmission = { readonly change: LinkChange; readonly sourceRow: number; readonly targetRow: number };

/** Collects the net effect of a batch of events on rows and links, for the read index. */
export type ChangeLog = {
  row(type: Uid, key: number, row: IndexedRow | null): void;
  /** The link's state in a world; passed on only while both rows exist there. */
  link(record: LinkRecord, world: WorldNumber, order: LinkOrder | null): void;
  localization(type: Uid, world: WorldNumber, source: number, target: number, rank: number | null): void;
  take(position: bigint): ChangeBatch;
};

export function createChangeLog(existing: ExistingRows): ChangeLog {
  let rows = new Map<number, RowChange>();
  let links = new Map<string, LinkEmission>();
  const emit = (id: number | string, sourceRow: number, targetRow: number, change: LinkChange): void => {
    links.set(`${id}/${change.world}/${change.source}/${change.target}`, { change, sourceRow, targetRow });
  };
  return {
    row(type, key, row) {
      rows.set(key, { type, version: VERSIONS[versionOfKey(key)], key, row });
    },
    link(record, world, order) {
      const { relation } = record;
      if (!relation.served) return;
      const { sourceRow, targetRow } = linkRows(record, world);
      if (existing.has(sourceRow) && existing.has(targetRow)) {
        emit(relation.id, sourceRow, targetRow, linkChange(record, world, order));
      }
    },
    localization(type, world, source, target, rank) {
      emit(type, source, target, localizationChange(type, world, source, target, rank));
    },
    take(position) {
      const batch = { position, rows: [...rows.values()], links: existingLinks(links.values(), existing) };
      rows = new Map();
      links = new Map();
      return batch;
    },
  };
}

/** Links of rows that are gone by the end of the batch went with them. */
function existingLinks(emissions: Iterable<LinkEmission>, existing: ExistingRows): readonly LinkChange[] {
  const changes: LinkChange[] = [];
  for (const { change, sourceRow, targetRow } of emissions) {
    if (existing.has(sourceRow) && existing.has(targetRow)) changes.push(change);
  }
  return changes;
}

/** The content type rows that a link joins in a world, whether or not they exist. */
export function linkRows(
  { relation, source, target }: Pick<LinkRecord, 'relation' | 'source' | 'target'>,
  world: WorldNumber,
): { readonly sourceRow: number; readonly targetRow: number } {
  return {
    sourceRow: rowKeyIn(world, relation.sourceDraftAndPublish, source),
    targetRow: rowKeyIn(world, relation.targetDraftAndPublish, target),
  };
}

export function linkChange(
  record: {
    readonly relation: GraphRelation;
    readonly source: number;
    readonly component: number;
    readonly target: number;
  },
  world: WorldNumber,
  order: LinkOrder | null,
): LinkChange {
  const { sourceRow, targetRow } = linkRows(record, world);
  return {
    space: record.relation.space,
    attribute: record.relation.attribute,
    world: WORLDS[world],
    source: record.component === 0 ? sourceRow : record.component,
    target: targetRow,
    order,
  };
}

const spaces = new Map<Uid, RowSpace>();

/** A document's rows of one world are linked to each other, ordered by locale. */
export function localizationChange(
  type: Uid,
  world: WorldNumber,
  source: number,
  target: number,
  rank: number | null,
): LinkChange {
  const space = spaces.get(type) ?? { type, path: [] };
  spaces.set(type, space);
  const order = rank === null ? null : { sourceOrder: rank, targetOrder: rank };
  return { space, attribute: 'localizations', world: WORLDS[world], source, target, order };
}
