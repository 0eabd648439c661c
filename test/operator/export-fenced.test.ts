import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEventStore } from '../../services/stores/open-event-store.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const FENCED = 500;
const DOCUMENTS = 20;

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

async function withLog<Result>(data: string, use: (log: EventStore) => Promise<Result>): Promise<Result> {
  const log = await openEventStore(`sqlite:${join(data, 'events.db')}`, { space: 'varve' });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

async function eventsOf(log: EventStore): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const batch of log.readAll(0n)) all.push(...batch);
  return all;
}

/** Appends events of a leader that lost the lease without noticing: changes of documents, and documents of its own. */
async function appendFenced(log: EventStore): Promise<void> {
  const created = (await eventsOf(log)).filter(({ type }) => type === 'entry-created');
  for (let n = 0; n < FENCED; n++) {
    const { stream, data } = created[n % DOCUMENTS] as StoredEvent;
    const isNew = n % 3 === 0;
    const values = { name: `lost ${n}` };
    const documentId = `lost${n}`.padEnd(24, 'x');
    const event = {
      id: randomUUID(),
      type: isNew ? 'entry-created' : 'entry-changed',
      data: { ...(data as object), ...(isNew ? { documentId } : {}), values, shared: [], relations: [] },
      metadata: { schemaVersion: 2, at: new Date().toISOString(), epoch: 0 },
    };
    const to = isNew ? stream.replace(/-.*$/, `-${documentId}`) : stream;
    expect((await log.append(to, 'any', [event])).kind).toBe('appended');
  }
}

/** Returns an export in the form of earlier releases, which contained all events of the log. */
async function exportAsBefore(log: EventStore): Promise<string> {
  const events = (await eventsOf(log)).map(({ stream, revision, id, type, data, metadata }) => ({
    ...{ stream: stream.slice('varve.'.length), revision: Number(revision) },
    ...{ id, type, data, metadata },
  }));
  const lines = [{ varve: 'export', format: 1, space: 'varve' }, ...events].map(
    (line) => `${JSON.stringify(line)}\n`,
  );
  const sha256 = createHash('sha256').update(lines.join('')).digest('hex');
  return `${lines.join('')}${JSON.stringify({ end: true, events: events.length, sha256 })}\n`;
}

const PATHS = ['/api/tags?sort=name&pagination[limit]=100', '/api/tags?status=draft&pagination[limit]=100'];

async function answersOf(data: string): Promise<readonly string[]> {
  const server = await startServer({ data });
  const answers = await Promise.all(PATHS.map(async (path) => (await fetch(server.url + path)).text()));
  await server.stop();
  return answers;
}

it('restores no fenced event, from a current export or one of an earlier release', {
  ...takesMinutes('exports of a log with fenced events'),
  timeout: 300_000,
}, async () => {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'original');
  const write = async (round: string) => {
    const server = await startServer({ data });
    const ask = createAsk(server.url);
    const ids: string[] = (await ask('/api/tags?sort=key&pagination[limit]=100')).body.data.map(
      (each: { readonly documentId: string }) => each.documentId,
    );
    for (let n = 0; n < DOCUMENTS; n++) {
      const body = { data: { key: `k${String(n).padStart(2, '0')}`, name: `${round} ${n}` } };
      const path = ids[n] === undefined ? '/api/tags' : `/api/tags/${ids[n]}`;
      const { status } = await ask(path, { method: ids[n] === undefined ? 'POST' : 'PUT', body });
      expect(status).toBeLessThan(300);
    }
    await server.stop();
  };
  await write('first');
  await withLog(data, appendFenced);
  // The streams continue after the fenced events.
  await write('second');
  const answers = await answersOf(data);
  expect(answers.join()).toContain('second 7');
  expect(answers.join()).not.toContain('lost');

  const [now, before] = [join(folder, 'now.jsonl'), join(folder, 'before.jsonl')];
  await succeed('export', now, '--data', data);
  writeFileSync(before, await withLog(data, exportAsBefore));
  for (const file of [now, before]) {
    const imported = join(folder, `of-${file.slice(folder.length + 1)}`);
    await succeed('import', file, '--data', imported);
    // The second import finds all events and stores nothing.
    const count = (await withLog(imported, eventsOf)).length;
    await succeed('import', file, '--data', imported);
    expect((await withLog(imported, eventsOf)).length).toBe(count);
    expect(await answersOf(imported), file).toEqual(answers);
    const types = (await withLog(imported, eventsOf)).map(({ type }) => type);
    // An export names the head of its log, and an import stores that name first.
    const identified = types.filter((type) => type === 'log-identified');
    expect(identified).toHaveLength(file === now ? 2 : 1);
    if (file === now) expect(types[0]).toBe('log-identified');
    expect(await succeed('verify', '--data', imported)).toBeDefined();
    // An export of the imported log equals the export.
    if (file === now) {
      const again = join(folder, 'again.jsonl');
      await succeed('export', again, '--data', imported);
      expect(documentLines(again)).toEqual(documentLines(now));
    }
  }
});

function documentLines(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"type":"entry-'));
}

it('ends when another process becomes leader of the log that it imports into', {
  ...takesMinutes('an import that loses the lease'),
  timeout: 300_000,
}, async () => {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'original');
  const server = await startServer({ data });
  const body = { data: { key: 'a', name: 'a' } };
  expect((await createAsk(server.url)('/api/tags', { method: 'POST', body })).status).toBe(201);
  await server.stop();
  const file = join(folder, 'export.jsonl');
  await succeed('export', file, '--data', data);
  const led = join(folder, 'led');
  // This server was leader, and wrote only its content types.
  await (await startServer({ data: led })).stop();
  const { code, stderr } = await runVarve(['import', file, '--data', led]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/other events already|became the leader/);
});
