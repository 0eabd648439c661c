import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const space = `refused_restart_${process.pid}`;
const ERROR = { type: 'exception', reason: 'not now' };

describe('a server whose worker starts again while Elasticsearch refuses its requests', {
  ...(await needsElasticsearch(takesMinutes('a restart while Elasticsearch refuses'))),
  timeout: 300_000,
}, () => {
  let proxy: ElasticsearchProxy;
  let server: RunningServer;

  beforeAll(async () => {
    proxy = await startElasticsearchProxy(await elasticsearchUrl());
    server = await startServer({ arguments: ['--read-index', proxy.url, '--space', space] });
  }, 300_000);
  afterAll(async () => {
    await server?.dispose();
    proxy?.close();
  });

  it.each([401, 403, 404])('waits for the end of the refusals with %i', async (status) => {
    const { call } = createApiClient(server.url);
    expect((await call('POST', '/api/tags', { data: { key: `k${status}`, name: 'a' } })).status).toBe(201);
    const worker = server.worker();
    const before = server.output().length;
    proxy.intercept(() => ({ status, json: { error: { ...ERROR, root_cause: [ERROR] }, status } }));
    process.kill(worker ?? 0, 'SIGKILL');
    const said = () => server.output().slice(before);
    await expect.poll(said, { timeout: 60_000 }).toMatch(/waiting for Elasticsearch/);
    proxy.intercept(() => undefined);
    const found = async () => (await call('GET', `/api/tags?filters[key]=k${status}`)).data;
    await expect.poll(found, { timeout: 60_000, interval: 250 }).toMatchObject([{ key: `k${status}` }]);
    expect(server.worker()).not.toBe(worker);
    expect(said().match(/worker crashed/g)).toHaveLength(1);
  });
});
