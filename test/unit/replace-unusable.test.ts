import { randomUUID } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { replaceUnusable } from '../../services/read-side/replace-unusable.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { copyDatabase } from '../../shared/sqlite/copy-database.ts';
import { created, createLog, DEFINITIONS, uid } from './graph-fixture.ts';

/** Creates a folder. These tests start with a damaged graph, or with a graph and a log that do not belong together. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-replace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens the log, and closes it after `use`, since a test may then replace the file. */
async function withLog<Result>(data: string, use: (log: EventStore) => Promise<Result>): Promise<Result> {
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve' });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

/** Creates a data directory whose log has the definitions and then these tags. */
async function directoryOf(...tags: readonly string[]): Promise<string> {
  const data = newFolder();
  await add(data, DEFINITIONS);
  await addTags(data, ...tags);
  return data;
}

async function add(data: string, events: readonly VarveEvent[]): Promise<void> {
  await withLog(data, async (log) => {
    for (const { type, data: content } of events) {
      const stream = 'uid' in content ? `varve.type-${content.uid}` : `varve.doc-${content.documentId}`;
      const metadata = { schemaVersion: 1, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
      await log.append(stream, 'any', [{ id: randomUUID(), type, data: content, metadata }]);
    }
  });
}

const addTags = (data: string, ...tags: readonly string[]) =>
  add(
    data,
    tags.map((tag) => created('tag', tag)),
  );

/** Applies the whole log to a graph. Returns the graph's tags. */
async function follow(data: string, generation = 1): Promise<readonly string[]> {
  const graph = openContentGraph(graphFile(data, generation));
  await withLog(data, (log) => catchUp(log, graph));
  const tags = [...graph.readAll()].flatMap(({ rows }) =>
    rows.map(({ row }) => String(row?.fields['documentId'])),
  );
  graph.close();
  return tags;
}

/** Saves the current log of a data directory. Returns a function that restores it. */
function saveLog(data: string): () => void {
  const folder = newFolder();
  cpSync(join(data, 'events.db'), join(folder, 'events.db'));
  return () => cpSync(join(folder, 'events.db'), join(data, 'events.db'));
}

async function replaced(data: string): Promise<readonly (readonly [file: string, reason: string])[]> {
  const reports: (readonly [string, string])[] = [];
  const report = (...each: readonly [string, string]) => reports.push(each);
  await withLog(data, (log) => replaceUnusable({ data, log, report }));
  return reports;
}

const OTHER = expect.stringContaining('is not in this log');

describe('an older log under a newer graph', () => {
  it('with other events since then: the graph is rebuilt from it', async () => {
    const data = await directoryOf('a');
    const putBack = saveLog(data);
    await addTags(data, 'b', 'c');
    await follow(data);
    putBack();
    await addTags(data, 'd', 'e', 'f');
    expect(await replaced(data)).toEqual([[graphFile(data, 1), OTHER]]);
    expect(await follow(data)).toEqual(['a', 'd', 'e', 'f']);
    expect(await replaced(data)).toEqual([]);
  });

  it('that ends with another event at the same position: the graph is rebuilt from it', async () => {
    const data = await directoryOf('a');
    const putBack = saveLog(data);
    await addTags(data, 'b');
    await follow(data);
    putBack();
    // The new event has the same stream and revision.
    await addTags(data, 'b');
    expect(await replaced(data)).toEqual([[graphFile(data, 1), OTHER]]);
  });

  it('that is shorter: refused, with both positions and what to do', async () => {
    const data = await directoryOf('a');
    const putBack = saveLog(data);
    await addTags(data, 'b', 'c');
    await follow(data);
    putBack();
    const end = DEFINITIONS.length + 1;
    const refusal = `the log ends at position ${end}, and ${data} has applied it up to position ${end + 2}: events are missing. Put the newer log back`;
    await expect(replaced(data)).rejects.toThrow(refusal);
    expect(existsSync(graphFile(data, 1))).toBe(true);
  });

  it('that has nothing in the namespace: refused, since --space is probably wrong', async () => {
    const data = await directoryOf('a');
    await follow(data);
    const log = openSqliteEventStore(join(data, 'events.db'), { space: 'other' });
    onTestFinished(() => log.close());
    const replacing = replaceUnusable({ data, log, report: () => {} });
    await expect(replacing).rejects.toThrow(
      `pass the --space and --event-store of the server that used ${data}`,
    );
    expect(existsSync(graphFile(data, 1))).toBe(true);
  });

  it('generations that are not live are rebuilt, also from a shorter log', async () => {
    const data = await directoryOf('a');
    const store = openGenerationStore(data);
    store.begin({ graph: true }, '2024-01-01T00:00:00.000Z');
    store.setLive(2);
    store.begin({ graph: true }, '2024-01-01T00:00:00.000Z');
    store.close();
    const putBack = saveLog(data);
    await follow(data, 2);
    await addTags(data, 'b', 'c');
    for (const generation of [1, 3]) await follow(data, generation);
    putBack();
    await addTags(data, 'd');
    const others = [1, 3].map((generation) => [graphFile(data, generation), OTHER]);
    expect(await replaced(data)).toEqual(others);
    expect(await follow(data, 2)).toEqual(['a', 'd']);
  });
});

describe('a log and its own graph', () => {
  it('are not changed', async () => {
    const data = await directoryOf('a');
    await follow(data);
    await addTags(data, 'b');
    expect(await replaced(data)).toEqual([]);
    expect(await follow(data)).toEqual(['a', 'b']);
  });

  it('are not changed if an earlier release made the graph, without a record of its last event', async () => {
    const data = await directoryOf('a');
    const putBack = saveLog(data);
    await addTags(data, 'b');
    await follow(data);
    run(graphFile(data, 1), 'DELETE FROM last_event');
    expect(await replaced(data)).toEqual([]);
    expect(await follow(data)).toEqual(['a', 'b']);
    // A graph of an earlier schema has no such table.
    run(graphFile(data, 1), 'DROP TABLE last_event');
    expect(await replaced(data)).toEqual([]);
    putBack();
    await expect(replaced(data)).rejects.toThrow('events are missing');
  });
});

const DAMAGES: readonly (readonly [what: string, damage: (file: string) => void])[] = [
  ['is not a database', (file) => writeFileSync(file, 'garbage'.repeat(2_000))],
  ['is cut in half', (file) => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)],
  ['lacks a table', (file) => run(file, 'DROP TABLE meta')],
  [
    'has zeros for a page',
    (file) => writeZeros(file, Number(run(file, "SELECT rootpage FROM sqlite_schema WHERE name = 'rows'"))),
  ],
];

/** Runs a statement and returns its first value. */
function run(file: string, sql: string): unknown {
  const db = new DatabaseSync(file);
  const row = db.prepare(sql).get();
  db.close();
  return Object.values(row ?? {})[0];
}

function writeZeros(file: string, page: number): void {
  const size = Number(run(file, 'PRAGMA page_size'));
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(size), 0, size, (page - 1) * size);
  closeSync(handle);
}

describe('a damaged read model', () => {
  it.each(DAMAGES)(
    'a graph.db that %s is renamed, and the graph is rebuilt from the log',
    async (_what, damage) => {
      const data = await directoryOf('a', 'b');
      await follow(data);
      const file = graphFile(data, 1);
      damage(file);
      expect(await replaced(data)).toEqual([[file, 'it is damaged']]);
      expect(existsSync(`${file}.damaged`)).toBe(true);
      expect(await follow(data)).toEqual(['a', 'b']);
      expect(await replaced(data)).toEqual([]);
    },
  );

  it('a graph.db that is empty is a new one', async () => {
    const data = await directoryOf('a', 'b');
    await follow(data);
    truncateSync(graphFile(data, 1), 0);
    expect(await replaced(data)).toEqual([]);
    expect(await follow(data)).toEqual(['a', 'b']);
  });

  it('a graph in which damage is found while it is open is marked, and rebuilt at the next start', async () => {
    const data = await directoryOf('a', ...Array.from({ length: 200 }, (_, n) => `tag${n}`));
    await follow(data);
    const file = graphFile(data, 1);
    // No read touches this page before the entry is requested.
    const leaf = Number(
      run(
        file,
        "SELECT pageno FROM dbstat WHERE name = 'entries' AND pagetype = 'leaf' ORDER BY pageno DESC",
      ),
    );
    const graph = openContentGraph(file);
    writeZeros(file, leaf);
    expect(() => graph.reader.streamRevision(uid('tag'), 'tag199')).toThrow('malformed');
    graph.close();
    expect(await replaced(data)).toEqual([[file, 'it is damaged']]);
    expect(await follow(data)).toHaveLength(201);
    expect(await replaced(data)).toEqual([]);
  });

  it('a generations.db that is not a database is created again, and all graphs are, since nothing says which is complete', async () => {
    const data = await directoryOf('a');
    const store = openGenerationStore(data);
    store.begin({ graph: true }, '2024-01-01T00:00:00.000Z');
    store.setLive(2);
    store.close();
    for (const generation of [1, 2]) await follow(data, generation);
    const file = join(data, 'generations.db');
    writeFileSync(file, 'garbage'.repeat(2_000));
    expect(await replaced(data)).toEqual([[file, 'it is damaged']]);
    for (const generation of [1, 2]) expect(existsSync(graphFile(data, generation))).toBe(false);
    const made = openGenerationStore(data);
    expect(made.live().number).toBe(1);
    made.close();
  });
});

describe('the position from which the log is read after a restart', () => {
  const eventsOf = (chain?: string) =>
    createLog()
      .add(...DEFINITIONS)
      .map((event) => (chain === undefined ? event : { ...event, chain: chain + event.position }));

  it('is the searched position, and not that of the graph', () => {
    const file = graphFile(newFolder(), 1);
    const events = eventsOf();
    const last = BigInt(events.length);
    let graph = openContentGraph(file);
    graph.apply(events, last + 5n);
    graph.apply([], last + 9n);
    expect([graph.position(), graph.readFrom()]).toEqual([last, last + 9n]);
    // A killed process did not store its last searched position, so the next one searches from the stored one.
    const left = graphFile(newFolder(), 1);
    copyDatabase(file, left);
    const killed = openContentGraph(left);
    expect(killed.readFrom()).toBe(last + 5n);
    killed.close();
    graph.close();
    graph = openContentGraph(file);
    expect([graph.position(), graph.readFrom()]).toEqual([last, last + 9n]);
    expect(graph.lastEvent()).toMatchObject({ id: events.at(-1)?.id, position: last, chain: undefined });
    graph.close();
  });

  it('is the last event if the log has a chain: a restored log may end before the searched position', () => {
    const file = graphFile(newFolder(), 1);
    const events = eventsOf('ab');
    const last = BigInt(events.length);
    let graph = openContentGraph(file);
    graph.apply(events, last + 5n);
    graph.close();
    graph = openContentGraph(file);
    expect([graph.readFrom(), graph.lastEvent()?.chain]).toEqual([last, `ab${last}`]);
    graph.close();
  });
});
