import { valueAt } from '../../../shared/map-values.ts';
import type { Neighbour, Neighbours } from '../../../shared/read-index/document-index.ts';
import type { IndexedComponent, IndexedRow, RowSet } from '../../../shared/read-index/read-index.ts';
import { createRecentValues, type RecentValues } from '../../../shared/recent-values.ts';
import { linkRows } from '../store/change-log.ts';
import type { SqlRow } from '../store/graph-database.ts';
import { publicationStateAt } from '../store/graph-entry.ts';
import type { GraphRelation } from '../store/graph-relation.ts';
import { ROW_COLUMNS } from '../store/graph-row.ts';
import type { LinkRecord } from '../store/link-store.ts';
import type { PublicationFacts } from '../store/present-row.ts';
import {
  DRAFT,
  entryOfKey,
  PUBLISHED,
  rowKey,
  UNVERSIONED,
  versionOfKey,
  type WorldNumber,
} from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import { entriesOfDocument, rowsOfDocument } from './document-rows.ts';
import type { ReaderContext } from './graph-reader.ts';
import { indexedRow } from './indexed-row.ts';
import { type LinkStep, linkStep } from './walk-back.ts';

const ROWS = `SELECT ${ROW_COLUMNS} FROM rows WHERE key BETWEEN ? AND ?`;
const SHARED = 'SELECT document_id, shared_edited, shared_published FROM entries WHERE id = ?';

/** Cached data for documents of both worlds. */
type ReadSoFar = {
  readonly rows: RecentValues<number, IndexedRow>;
  /** All versions of the last entry. They are read one after the other, and each shows the state of the others. */
  lastEntry: { readonly entry: number; readonly rows: readonly SqlRow[] } | undefined;
  /** The entry that a component belongs to, for components of rows read so far. */
  readonly bearers: Map<string, number>;
  /** Links by their source entry, and by relation and component below that. */
  readonly owned: RecentValues<number, ReadonlyMap<GroupName, readonly LinkRecord[]>>;
  /** Links by relation and target entry. */
  readonly pointing: RecentValues<string, readonly LinkRecord[]>;
};

const NOBODY: readonly Neighbour[] = Object.freeze([]);

/**
 * Cache sizes for rows and for links. Copied rows are not cached, because documents contain them as text. The other world and the sorts
 * read links again. Data that outlives V8's young generation costs more to collect than to read.
 */
const CACHED_ROWS = 1_000;
const CACHED_LINKS = 200;

/**
 * Reads both worlds of the graph in its current state, for making documents. It reads everything only once, however many documents show it,
 * so use it only until the graph changes.
 */
export function readNeighbours(context: ReaderContext): readonly [draft: Neighbours, published: Neighbours] {
  const read: ReadSoFar = {
    rows: createRecentValues(CACHED_ROWS),
    lastEntry: undefined,
    bearers: new Map(),
    owned: createRecentValues(CACHED_LINKS),
    pointing: createRecentValues(CACHED_LINKS),
  };
  const relationOf = createRelationLookup(context);
  return [neighboursIn(context, read, relationOf, 0), neighboursIn(context, read, relationOf, 1)];
}

function neighboursIn(
  context: ReaderContext,
  read: ReadSoFar,
  relationOf: RelationLookup,
  world: WorldNumber,
): Neighbours {
  const readLinked = (rowSet: RowSet, key: number, step: LinkStep): readonly Neighbour[] => {
    if (step.kind === 'locales') return otherLocales(context, context.schema.type(step.to), key, world);
    const { kind, relation } = step;
    if (kind === 'along') {
      const owner = ownerOf(relation, rowSet, key, read.bearers);
      return neighbours(context, ownedLinks(context, read, relation, owner), world, kind);
    }
    const entry = entryOfKey(key);
    const name = `${relation.id} ${entry}`;
    const records = valueAt(read.pointing, name, () => context.links.ofTarget(relation, entry));
    return neighbours(context, records, world, kind);
  };
  return {
    row(type, key) {
      const { rows, bearers } = read;
      const known = rows.get(key);
      if (known !== undefined) return known;
      const row = readIndexedRow(context, read, context.schema.type(type), key);
      if (row === undefined) return undefined;
      rows.set(key, row);
      noteComponents(row.components, entryOfKey(key), bearers);
      return row;
    },
    linked(rowSet, key, attribute) {
      const { step, found } = relationOf(rowSet, attribute);
      return valueAt(found[world], key, () => readLinked(rowSet, key, step));
    },
  };
}

function ownedLinks(
  { links }: ReaderContext,
  { owned }: ReadSoFar,
  relation: GraphRelation,
  [entry, component]: LinkOwner,
): readonly LinkRecord[] {
  const groups = valueAt(owned, entry, () =>
    Map.groupBy(links.ownedBy(entry), (link) => groupName(link.relation, link.component)),
  );
  return groups.get(groupName(relation, component)) ?? [];
}

/** Name of a group of links: a number for a relation of the entry, a text for a relation of one of its components. */
type GroupName = number | string;

function groupName({ id }: GraphRelation, component: number): GroupName {
  return component === 0 ? id : `${id} ${component}`;
}

type LinkedLists = RecentValues<number, readonly Neighbour[]>;

/**
 * A relation of the rows or components of a row set, with the lists read so far. Documents need each list for the links and again for the
 * sorts.
 */
type TraversedRelation = {
  readonly step: LinkStep;
  readonly found: readonly [draft: LinkedLists, published: LinkedLists];
};

type RelationLookup = (rowSet: RowSet, attribute: string) => TraversedRelation;

/** Creates a lookup that computes the relations of a row set once. A layout always passes the same object for the same row set. */
function createRelationLookup({ schema }: ReaderContext): RelationLookup {
  const relations = new Map<RowSet, Map<string, TraversedRelation>>();
  return (rowSet, attribute) => {
    const ofRowSet = valueAt(relations, rowSet, () => new Map());
    return valueAt(ofRowSet, attribute, () => {
      const cachedLists = (): LinkedLists => createRecentValues(CACHED_LINKS);
      return { step: linkStep(schema, { rowSet, attribute }), found: [cachedLists(), cachedLists()] };
    });
  };
}

/** `component`: 0 for a link of the entry itself. */
type LinkOwner = readonly [entry: number, component: number];

function ownerOf(
  relation: GraphRelation,
  rowSet: RowSet,
  key: number,
  bearers: ReadonlyMap<string, number>,
): LinkOwner {
  if (rowSet.path.length === 0) return [entryOfKey(key), 0];
  const entry = bearers.get(`${relation.component} ${key}`);
  if (entry === undefined)
    throw new Error(`component ${relation.component} ${key} belongs to no row read before`);
  return [entry, key];
}

function noteComponents(
  components: IndexedRow['components'],
  entry: number,
  bearers: Map<string, number>,
): void {
  for (const list of Object.values(components)) {
    for (const each of list as readonly IndexedComponent[]) {
      bearers.set(`${each.component} ${each.key}`, entry);
      noteComponents(each.components, entry, bearers);
    }
  }
}

function neighbours(
  { existing }: ReaderContext,
  records: readonly LinkRecord[],
  world: WorldNumber,
  direction: 'along' | 'against',
): readonly Neighbour[] {
  if (records.length === 0) return NOBODY;
  const found: (Neighbour & { readonly order: number })[] = [];
  for (const record of records) {
    const orders = record.orders[world];
    if (orders === null) continue;
    const { sourceRow, targetRow } = linkRows(record, world);
    const key = direction === 'along' ? targetRow : sourceRow;
    if (!existing.has(key)) continue;
    const { sourceOrder, targetOrder } = orders;
    found.push(
      direction === 'along'
        ? { key, otherOrder: targetOrder, order: sourceOrder }
        : { key, otherOrder: sourceOrder, order: targetOrder },
    );
  }
  return found.length < 2 ? found : found.sort((a, b) => a.order - b.order || a.key - b.key);
}

/** Returns the rows of a document in its other locales in one world, in the order of the locales. */
function otherLocales(
  context: ReaderContext,
  view: TypeView,
  key: number,
  world: WorldNumber,
): readonly Neighbour[] {
  const documentId = context.db.get(SHARED, entryOfKey(key))?.[0] ?? '';
  return rowsOfDocument(context, view, documentId as string, world)
    .map((row, rank) => ({ key: row, otherOrder: rank }))
    .filter((neighbour) => neighbour.key !== key);
}

function readIndexedRow(
  context: ReaderContext,
  read: ReadSoFar,
  view: TypeView,
  key: number,
): IndexedRow | undefined {
  if (!context.existing.has(key)) return undefined;
  const entry = entryOfKey(key);
  if (read.lastEntry?.entry !== entry) {
    read.lastEntry = { entry, rows: context.db.all(ROWS, rowKey(entry, DRAFT), rowKey(entry, UNVERSIONED)) };
  }
  const { rows } = read.lastEntry;
  const row = rows.find(([of]) => of === key);
  if (row === undefined) return undefined;
  return indexedRow(view, row, publicationOf(context, view, key, rows));
}

/** `rows`: the rows of the entry. */
function publicationOf(
  context: ReaderContext,
  view: TypeView,
  key: number,
  rows: readonly SqlRow[],
): PublicationFacts {
  if (versionOfKey(key) === UNVERSIONED) return { state: 'published', documentPublished: true };
  const { db, existing } = context;
  const entry = entryOfKey(key);
  const positions = new Map(rows.map(([of, , position]) => [versionOfKey(of as number), position as number]));
  const [documentId, sharedEdited, sharedPublished] = (view.localized
    ? db.get(SHARED, entry)
    : undefined) ?? ['', 0, 0];
  const shared = { sharedEdited: sharedEdited as number, sharedPublished: sharedPublished as number };
  return {
    state: publicationStateAt(positions.get(DRAFT), positions.get(PUBLISHED), shared),
    documentPublished: view.localized
      ? entriesOfDocument(context, view, documentId as string).some(({ id }) =>
          existing.has(rowKey(id, PUBLISHED)),
        )
      : positions.has(PUBLISHED),
  };
}
