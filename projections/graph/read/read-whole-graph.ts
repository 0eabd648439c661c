import { valueAt } from '../../../shared/map-values.ts';
import type { ChangeBatch, LinkChange, RowChange } from '../../../shared/read-index/read-index.ts';
import { linkChange, linkRows } from '../store/change-log.ts';
import type { SqlRow } from '../store/graph-database.ts';
import { publicationStateAt } from '../store/graph-entry.ts';
import type { GraphRelation } from '../store/graph-relation.ts';
import { ROW_COLUMNS } from '../store/graph-row.ts';
import type { LinkEnds } from '../store/link.ts';
import { ALL_LINKS } from '../store/link-store.ts';
import type { PublicationFacts } from '../store/present-row.ts';
import {
  DRAFT,
  entryOfKey,
  PUBLISHED,
  rowKey,
  UNVERSIONED,
  VERSIONS,
  versionOfKey,
} from '../store/row-keys.ts';
import type { ReaderContext } from './graph-reader.ts';
import { indexedRow } from './indexed-row.ts';
import { type Localized, localizationLinks, readLocalizedDocuments } from './localized-documents.ts';

/** Few enough rows to be garbage before they are moved to the old generation. */
const DEFAULT_BATCH = 2_000;
const ROWS = `SELECT ${ROW_COLUMNS} FROM rows WHERE key >= ? ORDER BY key LIMIT ?`;
const REST = `SELECT ${ROW_COLUMNS} FROM rows WHERE key > ? AND key <= ? ORDER BY key`;

/**
 * Reads all rows, then all links, for the read index. A batch may be empty, so that no piece of work is much longer than others. There is
 * always at least one batch, so that the index of an empty graph catches up too.
 */
export function* readWholeGraph(
  context: ReaderContext,
  position: bigint,
  batchSize = DEFAULT_BATCH,
): Iterable<ChangeBatch> {
  const nothing: ChangeBatch = { position, rows: [], links: [] };
  const localized: Localized = { entries: new Map(), documents: new Map() };
  for (const _page of readLocalizedDocuments(context, localized, batchSize)) yield nothing;
  for (const rows of readRows(context, localized.entries, batchSize)) yield { ...nothing, rows };
  for (const links of readLinks(context, batchSize)) yield { ...nothing, links };
  for (const links of localizationLinks(context, localized, batchSize)) yield { ...nothing, links };
  yield nothing;
}

const NOT_SHARED = { sharedEdited: 0, sharedPublished: 0 } as const;

function* readRows(
  { db, schema }: ReaderContext,
  localized: Localized['entries'],
  batchSize: number,
): Iterable<readonly RowChange[]> {
  let from = 0;
  for (;;) {
    const rows = db.all(ROWS, from, batchSize);
    const last = rows.at(-1);
    if (last === undefined) return;
    const lastKey = last[0] as number;
    const lastOfEntry = rowKey(entryOfKey(lastKey), UNVERSIONED);
    // The draft of the last entry may be the last row of this batch. Its published row would be in the next one.
    const whole = [...rows, ...db.all(REST, lastKey, lastOfEntry)];
    yield whole.map((row, at): RowChange => {
      const key = row[0] as number;
      const view = schema.typeOfNumber(row[1] as number);
      const indexed = indexedRow(view, row, factsAround(whole, at, localized));
      return { type: view.uid, version: VERSIONS[versionOfKey(key)], key, row: indexed };
    });
    from = lastOfEntry + 1;
  }
}

/** Publication state of a row, from its entry's rows next to it. */
function factsAround(rows: readonly SqlRow[], at: number, localized: Localized['entries']): PublicationFacts {
  const row = rows[at] as SqlRow;
  const key = row[0] as number;
  const version = versionOfKey(key);
  if (version === UNVERSIONED) return { state: 'published', documentPublished: true };
  const entry = entryOfKey(key);
  const draft = version === DRAFT ? row : rowWithKey(rows[at - 1], rowKey(entry, DRAFT));
  const published = version === PUBLISHED ? row : rowWithKey(rows[at + 1], rowKey(entry, PUBLISHED));
  const shared = localized.get(entry);
  return {
    state: publicationStateAt(
      draft?.[2] as number | undefined,
      published?.[2] as number | undefined,
      shared ?? NOT_SHARED,
    ),
    documentPublished: shared?.document.isPublished ?? published !== undefined,
  };
}

function rowWithKey(row: SqlRow | undefined, key: number): SqlRow | undefined {
  return row?.[0] === key ? row : undefined;
}

function* readLinks(context: ReaderContext, batchSize: number): Iterable<readonly LinkChange[]> {
  const [last] = context.db.get('SELECT max(source) FROM links') ?? [null];
  if (last === null) return;
  // An entry has about four links, most of them in one world.
  const step = Math.max(1, Math.ceil(batchSize / 4));
  for (let from = 0; from <= (last as number); from += step) {
    const links = linksBetween(context, from, from + step);
    if (links.length > 0) yield links;
  }
}

/** Visible links of the entries in a range, relation by relation: the index looks up each relation once per run. */
function linksBetween(
  { db, schema, existing }: ReaderContext,
  from: number,
  to: number,
): readonly LinkChange[] {
  const runs = new Map<GraphRelation, [LinkChange[], LinkChange[]]>();
  for (const [source, number, component, target, ...orders] of db.all(ALL_LINKS, from, to) as number[][]) {
    const relation = schema.relationOfNumber(number as number);
    if (relation?.served !== true) continue;
    const ends = { relation, source, component, target } as LinkEnds;
    const run = valueAt(runs, relation, (): [LinkChange[], LinkChange[]] => [[], []]);
    for (const world of [DRAFT, PUBLISHED] as const) {
      const sourceOrder = orders[world * 2];
      if (sourceOrder === undefined || sourceOrder === null) continue;
      const { sourceRow, targetRow } = linkRows(ends, world);
      if (!existing.has(sourceRow) || !existing.has(targetRow)) continue;
      run[world].push(linkChange(ends, world, { sourceOrder, targetOrder: orders[world * 2 + 1] as number }));
    }
  }
  return [...runs.values()].flatMap(([draft, published]) => draft.concat(published));
}
