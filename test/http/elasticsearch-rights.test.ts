import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
} from '../support/server.ts';

const space = `rights_${process.pid}`;
/** Requests that need `monitor`, and the name of their action. */
const MONITORED = [
  [/^\/_cluster\/health/, 'cluster:monitor/health'],
  [/^\/_cluster\/state/, 'cluster:monitor/state'],
  [/\/_stats/, 'indices:monitor/stats'],
] as const;

/** Answers as Elasticsearch does to a user without the right. */
function refusalOf(path: string) {
  const action = MONITORED.find(([pattern]) => pattern.test(path))?.[1];
  if (action === undefined) return undefined;
  const reason = `action [${action}] is unauthorized for user [varve] with effective roles [varve], this action is granted by the cluster privileges [monitor,manage,all]`;
  const error = { type: 'security_exception', reason };
  return { status: 403, json: { error: { ...error, root_cause: [error] }, status: 403 } };
}

describe("an Elasticsearch whose user lacks the right 'monitor'", {
  ...(await needsElasticsearch()),
  timeout: 300_000,
}, () => {
  const data = createDataDirectory();
  let proxy: ElasticsearchProxy;
  let server: RunningServer | undefined;

  beforeAll(async () => {
    proxy = await startElasticsearchProxy(await elasticsearchUrl());
  });
  afterAll(async () => {
    await server?.dispose();
    proxy.close();
    await removeIndices(await elasticsearchUrl(), space);
  });

  it('is named by readiness, status and the log of a running server, which continues', async () => {
    server = await startServer({ data, arguments: ['--read-index', proxy.url, '--space', space] });
    const { url, output } = server;
    const { call } = createApiClient(url);
    expect((await call('POST', '/api/tags', { data: { key: 'a', name: 'first' } })).status).toBe(201);
    proxy.intercept(({ path }) => refusalOf(path));
    const cause = /refuses its user: security_exception .*cluster:monitor\/health.* privileges \[monitor/;
    const ready = async () => (await fetch(`${url}/health/ready`)).text();
    await expect.poll(ready, { timeout: 40_000 }).toMatch(cause);
    expect((await runVarve(['status', '--data', data])).stdout).toMatch(cause);
    await expect.poll(output, { timeout: 40_000 }).toMatch(cause);
    expect((await call('POST', '/api/tags', { data: { key: 'b', name: 'second' } })).status).toBe(201);
    expect(await call('GET', '/api/tags?sort=key')).toMatchObject({
      status: 200,
      data: [{ key: 'a' }, { key: 'b' }],
    });
    proxy.intercept(() => undefined);
    await expect.poll(async () => (await fetch(`${url}/health/ready`)).status, { timeout: 40_000 }).toBe(200);
    expect((await server.stop()).code).toBe(0);
  });

  it('is named by the start that is refused', async () => {
    proxy.intercept(({ path }) => refusalOf(path));
    const args = ['--content-types', CONFORMANCE_SCHEMA, '--data', data, '--port', '0', '--space', space];
    const refused = spawnVarve(['serve', ...args, '--read-index', proxy.url]);
    await expect.poll(refused.output, { timeout: 30_000 }).toMatch(/privileges \[monitor/);
    refused.child.kill('SIGTERM');
    await refused.exited;
  });
});
