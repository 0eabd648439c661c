import { cpSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { type EventReader, openEvents } from '../support/event-source.ts';
import { readFeed } from '../support/feed-client.ts';
import { writePageTypes } from '../support/page-types.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const PAGES = 'types=pages';
const TOPICS = 'types=topics';

describe('a token that the current content does not continue', takesMinutes('resets of the feed'), () => {
  const folders: string[] = [];
  const [before, after] = [writePageTypes(), writePageTypes({ subtitle: { type: 'string' } })];
  const data = createDataDirectory();
  const copy = `${data}-copy`;
  folders.push(before, after, data, copy);
  let server: RunningServer;
  const ask = () => createAsk(server.url);
  const create = async (path: string, values: object): Promise<string> => {
    const { status, body } = await ask()(path, { method: 'POST', body: { data: values } });
    expect(status).toBe(201);
    return body.data.documentId;
  };
  const restart = async (contentTypes: string, from = data) => {
    await server.stop();
    if (from !== data) {
      rmSync(data, { recursive: true, force: true });
      cpSync(from, data, { recursive: true });
    }
    server = await startServer({ data, contentTypes });
  };
  const stream = async (query: string, last: string): Promise<EventReader> => {
    const reader = await openEvents(`${server.url}/api/_changes?${query}`, { 'last-event-id': last });
    onTestFinished(reader.close);
    return reader;
  };
  /** Expects that a stream tells the reader to discard its rows, and lists all rows. */
  const expectReset = async (query: string, last: string, ids: readonly string[]) => {
    const reader = await stream(query, last);
    await reader.until(({ events }) => events.length > 1);
    expect(reader.events.map(({ event }) => event)).toEqual(['reset', 'changes']);
    expect(reader.events[0]?.id).toBe('');
    const listed = JSON.parse(reader.events[1]?.data ?? '') as {
      readonly data: { readonly documentId: string }[];
    };
    expect(listed.data.map(({ documentId }) => documentId).toSorted()).toEqual(ids.toSorted());
    const page = await ask()(`/api/_changes?${query}&since=${last}`);
    expect([page.status, page.body.error.code]).toEqual([410, 'sync-token-gone']);
    return String(page.body.error.message);
  };

  beforeAll(async () => {
    server = await startServer({ data, contentTypes: before });
  });
  afterAll(async () => {
    await server?.dispose();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('resets readers of a type whose definition changed, and no others', async () => {
    const page = await create('/api/pages', { title: 'p' });
    const topic = await create('/api/topics', { name: 't' });
    const [pages, topics] = [await readFeed(ask(), PAGES), await readFeed(ask(), TOPICS)];
    await restart(after);
    expect(await expectReset(PAGES, pages.next, [page])).toContain('api::page.page was changed');
    const added = await create('/api/topics', { name: 'u' });
    expect((await readFeed(ask(), TOPICS, topics.next)).items.map(({ documentId }) => documentId)).toEqual([
      added,
    ]);
    const reader = await stream(TOPICS, topics.next);
    await reader.until(({ events }) => events.length > 0);
    expect(reader.events.map(({ event }) => event)).toEqual(['changes']);
    expect(topic).not.toBe(added);
  });

  it('is a reset when the log is an earlier copy', async () => {
    await server.stop();
    cpSync(data, copy, { recursive: true });
    server = await startServer({ data, contentTypes: after });
    const kept = (await readFeed(ask(), TOPICS)).items.map(({ documentId }) => String(documentId));
    await create('/api/topics', { name: 'lost' });
    const { next } = await readFeed(ask(), TOPICS);
    await restart(after, copy);
    await expectReset(TOPICS, next, kept);
    // The copy's log continues differently, beyond the position of the token.
    for (const name of ['own 1', 'own 2', 'own 3', 'own 4', 'own 5', 'own 6'])
      kept.push(await create('/api/topics', { name }));
    await expectReset(TOPICS, next, kept);
  });
});
