import type { Neighbour, Neighbours } from '../../shared/read-index/document-index.ts';
import type { IndexedComponent, IndexedRow, RowSpace } from '../../shared/read-index/read-index.ts';
import type { PublicationFacts, RowFacts, Values } from '../present-row.ts';
import { linkRows } from './change-log.ts';
import type { ReaderContext } from './graph-reader.ts';
import type { GraphRelation } from './graph-relation.ts';
import { ROW_COLUMNS, sourceBytes } from './graph-row.ts';
import { publicationStateAt } from './graph-session.ts';
import type { LinkRecord } from './link-store.ts';
import {
  DRAFT,
  entryOfKey,
  LIVE,
  PUBLISHED,
  rowKey,
  rowKeyIn,
  versionOfKey,
  type WorldNumber,
} from './row-keys.ts';
import type { TypeView } from './type-view.ts';
import { type LinkStep, linkStep } from './walk-back.ts';

const ROW = `SELECT ${ROW_COLUMNS} FROM rows WHERE key = ?`;
const POSITIONS = 'SELECT key, position FROM rows WHERE key BETWEEN ? AND ?';
const SHARED = 'SELECT document_id, shared_edited, shared_published FROM entries WHERE id = ?';
const LOCALES = 'SELECT id FROM entries WHERE document_id = ? AND type = ? ORDER BY locale';

/**
 * One world of the graph as it stands, for making documents: rows are read once however many documents show them, so it is to
 * be used only until the graph changes.
 */
export function readNeighbours(context: ReaderContext, world: WorldNumber): Neighbours {
  const rows = new Map<number, IndexedRow | undefined>();
  /** The entry that a component belongs to, for components of rows read so far. */
  const bearers = new Map<string, number>();
  const stepOf = createStepLookup(context);
  /** Of the entry asked about last: its relations are asked for one after the other. */
  let owned: { readonly entry: number; readonly links: ReadonlyMap<string, LinkRecord[]> } | undefined;
  const ownedLinks = (relation: GraphRelation, entry: number, component: number): readonly LinkRecord[] => {
    if (owned?.entry !== entry) owned = { entry, links: groupLinks(context.links.ownedBy(entry)) };
    return owned.links.get(`${relation.id} ${component}`) ?? [];
  };
  return {
    row(type, key) {
      if (rows.has(key)) return rows.get(key);
      const row = readIndexedRow(context, context.schema.type(type), key);
      rows.set(key, row);
      if (row !== undefined) noteComponents(row.components, entryOfKey(key), bearers);
      return row;
    },
    linked(space, key, attribute) {
      const step = stepOf(space, attribute);
      if (step.kind === 'locales') return otherLocales(context, context.schema.type(step.to), key, world);
      if (step.kind === 'against') {
        const records = context.links.ofTarget(step.relation, entryOfKey(key));
        return neighbours(context, records, world, 'against');
      }
      const owner = ownerOf(step.relation, space, key, bearers);
      return neighbours(context, ownedLinks(step.relation, ...owner), world, 'along');
    },
  };
}

function groupLinks(records: readonly LinkRecord[]): ReadonlyMap<string, LinkRecord[]> {
  const groups = new Map<string, LinkRecord[]>();
  for (const record of records) {
    const name = `${record.relation.id} ${record.component}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [record]);
    else group.push(record);
  }
  return groups;
}

/** `linkStep`, worked out once for each space, which a layout names by the same object every time. */
function createStepLookup({ schema }: ReaderContext): (space: RowSpace, attribute: string) => LinkStep {
  const steps = new Map<RowSpace, Map<string, LinkStep>>();
  return (space, attribute) => {
    const ofSpace = steps.get(space) ?? new Map<string, LinkStep>();
    steps.set(space, ofSpace);
    const step = ofSpace.get(attribute) ?? linkStep(schema, { space, attribute });
    ofSpace.set(attribute, step);
    return step;
  };
}

function ownerOf(
  relation: GraphRelation,
  space: RowSpace,
  key: number,
  bearers: ReadonlyMap<string, number>,
): readonly [entry: number, component: number] {
  if (space.path.length === 0) return [entryOfKey(key), 0];
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
  const found: { readonly key: number; readonly order: number; readonly otherOrder: number }[] = [];
  for (const record of records) {
    const orders = record.orders[world];
    if (orders === null) continue;
    const { sourceRow, targetRow } = linkRows(record, world);
    const key = direction === 'along' ? targetRow : sourceRow;
    if (!existing.has(key)) continue;
    const { sourceOrder, targetOrder } = orders;
    const [order, otherOrder] =
      direction === 'along' ? [sourceOrder, targetOrder] : [targetOrder, sourceOrder];
    found.push({ key, order, otherOrder });
  }
  found.sort((a, b) => a.order - b.order || a.key - b.key);
  return found.map(({ key, otherOrder }) => ({ key, otherOrder }));
}

/** A document's rows of one world are linked to each other, in order of their locales. */
function otherLocales(
  { db, existing }: ReaderContext,
  view: TypeView,
  key: number,
  world: WorldNumber,
): readonly Neighbour[] {
  const documentId = db.get(SHARED, entryOfKey(key))?.[0] ?? '';
  return db
    .all(LOCALES, documentId, view.number)
    .map(([id]) => rowKeyIn(world, view.draftAndPublish, id as number))
    .filter((row) => existing.has(row))
    .map((row, rank) => ({ key: row, otherOrder: rank }))
    .filter((neighbour) => neighbour.key !== key);
}

function readIndexedRow(context: ReaderContext, view: TypeView, key: number): IndexedRow | undefined {
  if (!context.existing.has(key)) return undefined;
  const row = context.db.get(ROW, key);
  if (row === undefined) return undefined;
  const source = sourceBytes(row);
  const parsed = JSON.parse(source.toString()) as RowFacts & Values;
  const components = row[5] === null ? {} : (JSON.parse(row[5] as string) as Values);
  return {
    source,
    fields: view.presenter.fields(parsed, parsed, publicationOf(context, view, key)),
    components: view.presenter.components(components),
  };
}

function publicationOf({ db, existing }: ReaderContext, view: TypeView, key: number): PublicationFacts {
  if (versionOfKey(key) === LIVE) return { state: 'published', documentPublished: true };
  const entry = entryOfKey(key);
  const positions = new Map<number, number>();
  for (const [of, position] of db.all(POSITIONS, rowKey(entry, DRAFT), rowKey(entry, PUBLISHED))) {
    positions.set(versionOfKey(of as number), position as number);
  }
  const [documentId, sharedEdited, sharedPublished] = (view.localized
    ? db.get(SHARED, entry)
    : undefined) ?? ['', 0, 0];
  const shared = { sharedEdited: sharedEdited as number, sharedPublished: sharedPublished as number };
  return {
    state: publicationStateAt(positions.get(DRAFT), positions.get(PUBLISHED), shared),
    documentPublished: view.localized
      ? isAnyPublished(db.all(LOCALES, documentId as string, view.number), existing)
      : positions.has(PUBLISHED),
  };
}

function isAnyPublished(
  entries: readonly (readonly unknown[])[],
  existing: ReaderContext['existing'],
): boolean {
  return entries.some(([id]) => existing.has(rowKey(id as number, PUBLISHED)));
}
