import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { createCorpusWriter } from '../support/corpus-writes.ts';
import { createRandom, type Random } from '../support/naive-random.ts';
import { openInProcess } from '../support/varve-in-process.ts';
import { type DataSize, importDataSet, ROOT } from './bench-data.ts';

export type LongLog = DataSize & {
  /** The number of events, as text. */
  readonly events: string;
  /** Random writes of every kind to the corpus: so many after half of the events, and at the end. Default: 0. */
  readonly writes?: number;
};

/**
 * Makes a log in a new data directory, or leaves the one that is there: the corpus, a seeded data set, and edits of its random documents.
 * Resolves to the last position.
 */
export async function makeLongLog(data: string, size: LongLog, random: Random): Promise<number> {
  if (!existsSync(join(data, 'events.db'))) {
    if (existsSync(data)) rmdirSync(data);
    execFileSync(process.execPath, [join(ROOT, 'test/support/load-corpus.ts'), data]);
    importDataSet(data, join(data, 'scratch'), size, { rewrite: nameCountries });
    for (const share of [0.5, 1]) {
      await appendEdits(data, Number(size.events) * share, random);
      if (size.writes !== undefined) await write(data, size.writes);
    }
  }
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', reads: 'look' });
  const end = Number(await log.lastPosition());
  await log.close();
  return end;
}

/** The codes of countries are unique, and the corpus has some of them. */
function nameCountries(folder: string): void {
  const file = join(folder, 'country.jsonl');
  const lines = readFileSync(file, 'utf8').replaceAll('"code":"', '"code":"_');
  writeFileSync(file, lines);
}

type Edited = { readonly type: Uid; readonly documentId: string; readonly locale: string | null };

async function appendEdits(data: string, most: number, random: Random): Promise<void> {
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve' });
  const { documents, last } = await findDocuments(log);
  const metadata = { at: new Date().toISOString(), epoch: last?.metadata.epoch ?? 0 };
  for (let end = Number(await log.lastPosition()); end < most; end += 1_000) {
    const edits = Array.from({ length: 1_000 }, (_, n) => edit(random, random.pick(documents), end + n));
    await Promise.all(
      edits.map(({ stream, event }) => log.append(stream, 'any', [newEvent(event, metadata)])),
    );
  }
  await log.close();
}

/** Returns the restaurants and reviews that nobody has deleted in any locale, and the last event. */
async function findDocuments(log: EventStore) {
  const found = new Map<string, Edited>();
  let last: StoredEvent | undefined;
  for await (const page of log.readAll(0n)) {
    last = page.at(-1);
    for (const { type, stream, data: entry } of page)
      if (type === 'entry-created' && /\.(restaurant|review)$/.test((entry as Edited).type))
        found.set(stream, entry as Edited);
      else if (type.endsWith('-deleted')) found.delete(stream);
  }
  return { documents: [...found.values()], last };
}

function edit(source: Random, { type, documentId, locale }: Edited, n: number) {
  const stream = documentStream('varve', type, documentId);
  const entry = { type, documentId, locale };
  if (type === 'api::restaurant.restaurant' && source.chance(0.3))
    return { stream, event: { type: 'entry-published', data: entry } as const };
  const values = type === 'api::review.review' ? { score: 1 + (n % 5) } : { description: `edit ${n}` };
  const changed = { ...entry, values, shared: [], relations: [] };
  return { stream, event: { type: 'entry-changed', data: changed } as const };
}

/** The random writes change so many documents of each type. The relations of more would be too many for one answer. */
const MOST_CHANGED = 20;

async function write(data: string, writes: number): Promise<void> {
  const varve = await openInProcess(data);
  const { content } = varve.apiFor(FULL_ACCESS);
  const writer = await createCorpusWriter(content, varve.registry, createRandom(writes), MOST_CHANGED);
  for (let n = 0; n < writes; n++) await writer.write();
  await varve.close();
}
