import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { replayGraph } from '../../projections/verification/replay-graph.ts';
import { planErasure, redactionsFor } from '../../services/erasure/plan-erasure.ts';
import { findWrongErasures } from '../../services/erasure/verify-erasures.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { isDocumentEvent, type VarveEvent } from '../../shared/document/events.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import { type ErasureEvent, erasureStream } from '../../shared/erasure/erasure-events.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createCorpusWriter } from '../support/corpus-writes.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { loadedCorpus } from '../support/loaded-corpus.ts';
import { createRandom, type Random } from '../support/naive-random.ts';
import { count } from '../support/takes-minutes.ts';
import { openInProcess } from '../support/varve-in-process.ts';

/**
 * A document of the corpus is erased in a copy of the log. A replay of the copy gives the same graph as a replay of the log with all contents
 * and the same deletion. It differs from the graph of before only in the document and its links.
 */
const SEED = Number(process.env['SEED'] ?? 43);
const DOCUMENTS = Number(process.env['VARVE_ERASED_DOCUMENTS'] ?? count(Number.POSITIVE_INFINITY, 4));
const SPACE = 'varve';
/** Random writes to the corpus before: without them few documents have a history. */
const WRITES = count(200, 50);

type Document = { readonly type: string; readonly documentId: string };
type Row = Readonly<Record<string, unknown>>;
type Tables = Readonly<Record<string, readonly Row[]>>;

it(`an erasure of a document of the corpus changes no other row in a replay (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const folder = await makeHistory(random);
  const all = await documentsIn(folder);
  const chosen = DOCUMENTS < all.length ? random.sample(all, DOCUMENTS) : all;
  const before = await replay(folder, 'events.db');
  for (const document of chosen) {
    await erase(folder, document, localesIn(before, document));
    const named = `${document.type} ${document.documentId}`;
    const after = await replay(folder, 'redacted.db');
    expect(withoutEventIds(after), named).toEqual(withoutEventIds(await replay(folder, 'deleted.db')));
    expect(othersIn(after, document), named).toEqual(othersIn(before, document));
  }
  expect(chosen.length).toBeGreaterThanOrEqual(Math.min(DOCUMENTS, 300));
}, 900_000);

/** Returns a folder with the log of the corpus after random writes. */
async function makeHistory(random: Random): Promise<string> {
  const data = dataForTest();
  cpSync(await loadedCorpus(), data, { recursive: true });
  const varve = await openInProcess(data);
  const { content } = varve.apiFor(FULL_ACCESS);
  const writer = await createCorpusWriter(content, varve.registry, random);
  for (let i = 0; i < WRITES; i++) await writer.write();
  await varve.close();
  return data;
}

function openLog(file: string) {
  return openSqliteEventStore(file, { space: SPACE, decode: upcast });
}

/** Returns all documents that the log has an event of, also deleted ones. */
async function documentsIn(folder: string): Promise<readonly Document[]> {
  const log = openLog(join(folder, 'events.db'));
  const documents = new Map<string, Document>();
  for await (const event of rawEvents(log, 0n))
    if (isDocumentEvent(event)) {
      const { type, documentId } = event.data as Document;
      documents.set(documentStream(SPACE, type, documentId), { type, documentId });
    }
  await log.close();
  return [...documents.values()];
}

/** Makes `deleted.db`, the log with the deletion and the proof of an erasure, and `redacted.db`, in which it is carried out. */
async function erase(
  folder: string,
  { type, documentId }: Document,
  locales: readonly (string | null)[],
): Promise<void> {
  const [whole, deleted, redacted] = ['events.db', 'deleted.db', 'redacted.db'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  copyFileSync(whole, deleted);
  const log = openLog(deleted);
  const { epoch } = await readLease(log, SPACE);
  const append = async (stream: string, event: VarveEvent | ErasureEvent) => {
    const stored = newEvent(event, { at: '2031-01-01T00:00:00.000Z', epoch });
    await log.append(stream, 'any', [stored]);
    return stored.id;
  };
  const order = await append(erasureStream(SPACE), {
    type: 'erasure-ordered',
    data: { type, documentId, reason: null },
  });
  for (const locale of locales)
    await append(documentStream(SPACE, type, documentId), {
      type: 'entry-deleted',
      data: { type, documentId, locale },
    });
  const proof = { order, type, documentId };
  const data = { ...proof, events: await planErasure({ log, space: SPACE }, proof) };
  await append(erasureStream(SPACE), { type: 'document-erased', data });
  await log.close();
  copyFileSync(deleted, redacted);
  const copy = openLog(redacted);
  await copy.chain?.redact(await redactionsFor({ log: copy, space: SPACE }, data));
  expect(await Array.fromAsync(findWrongErasures({ log: copy, space: SPACE }))).toEqual([]);
  await copy.close();
}

/** Replays a log of the folder, and returns the tables of the graph. */
async function replay(folder: string, name: string): Promise<Tables> {
  const file = join(folder, 'replayed.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  const log = openLog(join(folder, name));
  await replayGraph({ log, file, upTo: await log.lastPosition(), onEvents: () => {} });
  await log.close();
  const db = new DatabaseSync(file, { readOnly: true });
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  const tables = names.map(({ name: table }) => [String(table), db.prepare(`SELECT * FROM ${table}`).all()]);
  db.close();
  return Object.fromEntries(tables);
}

function table(tables: Tables, name: string): readonly Row[] {
  const rows = tables[name];
  if (rows === undefined) throw new Error(`the graph has no table ${name}`);
  return rows;
}

/** Returns tables without what an erasure changes in all of a graph: the ids of events, and the clock of commands, as an erased event has none. */
function withoutEventIds({ last_event, applied_events, commands, meta, ...tables }: Tables): Tables {
  const without = (rows: readonly Row[] = [], column: string) =>
    rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== column)));
  return {
    ...tables,
    last_event: without(last_event, 'id'),
    applied_events: without(applied_events, 'id'),
    commands: without(commands, 'forgotten_at'),
    meta: (meta ?? []).filter(({ name }) => !String(name).startsWith('commands_')),
  };
}

/** Returns a function that returns whether an entry, by its number, is one of a document. */
function isOf(tables: Tables, { type, documentId }: Document) {
  const number = table(tables, 'names').find(({ name }) => name === type)?.['id'];
  const entries = table(tables, 'entries').filter(
    (row) => row['type'] === number && row['document_id'] === documentId,
  );
  const ids = new Set(entries.map(({ id }) => id));
  return (entry: unknown) => ids.has(entry as number);
}

/** Returns the locales in which a document has rows. */
function localesIn(tables: Tables, document: Document): readonly (string | null)[] {
  const isOwn = isOf(tables, document);
  const entries = new Set(
    table(tables, 'rows')
      .map(({ key }) => Math.floor(Number(key) / 4))
      .filter(isOwn),
  );
  return table(tables, 'entries')
    .filter(({ id }) => entries.has(Number(id)))
    .map(({ locale }) => String(locale) || null);
}

/** Returns the tables without the rows that are about a document, and without what says how far the log was applied. */
function othersIn(tables: Tables, document: Document): Tables {
  const isOwn = isOf(tables, document);
  const entryOf = (key: unknown) => Math.floor(Number(key) / 4);
  const isAbout: Readonly<Record<string, (row: Row) => boolean>> = {
    entries: ({ id }) => isOwn(id),
    rows: ({ key }) => isOwn(entryOf(key)),
    ids: ({ key }) => isOwn(entryOf(key)),
    journal: ({ key }) => isOwn(entryOf(key)),
    unique_values: ({ entry }) => isOwn(entry),
    kept_values: ({ entry }) => isOwn(entry),
    kept_deletions: ({ entry }) => isOwn(entry),
    links: ({ source, target }) => isOwn(source) || isOwn(target),
    kept_links: ({ source, target }) => isOwn(source) || isOwn(target),
    pending_edits: ({ source, target, editor }) => [source, target, editor].some(isOwn),
    commands: (row) => row['document_id'] === document.documentId,
  };
  const { last_event: _, applied_events: __, meta: ___, ...others } = withoutEventIds(tables);
  return Object.fromEntries(
    Object.entries(others).map(([name, rows]) => [name, rows.filter((row) => !isAbout[name]?.(row))]),
  );
}
