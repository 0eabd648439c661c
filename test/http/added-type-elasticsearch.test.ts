import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A reading process that does not know a content type which the leader has added meanwhile. */
const before = createKitchenTypes();
const after = mkdtempSync(join(tmpdir(), 'varve-kitchen-'));
const data = createDataDirectory();
const space = `added_${process.pid}`;
let url: string;

const skip = takesMinutes('an added content type on Elasticsearch');

async function start(role: 'serve' | 'api', contentTypes: string): Promise<RunningServer> {
  const where = ['--event-store', `sqlite:${join(data, 'events.db')}`, '--assets', join(data, 'assets')];
  const own = role === 'serve' ? { data } : {};
  const server = await startServer({
    ...{ role, contentTypes, ...own },
    arguments: ['--read-index', url, '--space', space, ...where],
  });
  onTestFinished(() => server.dispose());
  return server;
}

describe('an added content type on Elasticsearch', await needsElasticsearch(skip), () => {
  beforeAll(async () => {
    url = await elasticsearchUrl();
    cpSync(before, after, { recursive: true });
    mkdirSync(join(after, 'note'));
    const cook = { type: 'relation', relation: 'manyToOne', target: 'api::cook.cook' };
    writeFileSync(
      join(after, 'note/schema.json'),
      JSON.stringify({
        kind: 'collectionType',
        info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
        attributes: { text: { type: 'string' }, cook },
      }),
    );
  }, 180_000);
  afterAll(async () => {
    if (url !== undefined) await removeIndices(url, space);
    for (const folder of [before, after, data]) rmSync(folder, { recursive: true, force: true });
  });

  it('is unknown to a paused process that started before, which answers all other requests as before', async () => {
    const cooks = async (ask: Ask) => {
      const { status, body } = await ask('/api/cooks?populate=*&sort=id');
      return { status, names: body.data?.map(({ name }: { name: string }) => name) };
    };
    const first = await start('serve', before);
    const create = (ask: Ask, path: string, values: object) =>
      ask(`/api/${path}`, { method: 'POST', body: { data: values } });
    const ada = (await create(createAsk(first.url), 'cooks', { name: 'Ada' })).body.data.documentId;
    const api = await start('api', before);
    const ask = createAsk(api.url);
    expect(await cooks(ask)).toEqual({ status: 200, names: ['Ada'] });
    api.signal('SIGSTOP');
    expect((await first.stop()).code).toBe(0);
    const second = await start('serve', after);
    expect((await create(createAsk(second.url), 'notes', { text: 'a', cook: ada })).status).toBe(201);
    api.signal('SIGCONT');
    expect((await ask('/api/notes')).status).toBe(404);
    expect((await create(ask, 'notes', { text: 'b' })).status).toBe(405);
    expect((await ask('/api/cooks?filters[notes][text]=a')).status).toBe(400);
    expect(await cooks(ask)).toEqual({ status: 200, names: ['Ada'] });
    expect((await create(ask, 'cooks', { name: 'Bob' })).status).toBe(201);
    expect(await cooks(ask)).toEqual({ status: 200, names: ['Ada', 'Bob'] });
    const again = createAsk((await start('api', before)).url);
    expect([(await again('/api/notes')).status, await cooks(again)]).toEqual([
      404,
      { status: 200, names: ['Ada', 'Bob'] },
    ]);
    const { body } = await createAsk((await start('api', after)).url)('/api/notes?populate=cook');
    expect(body.data).toMatchObject([{ text: 'a', cook: { name: 'Ada' } }]);
  }, 240_000);
});
