import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
} from '../support/server.ts';
import { createTestCertificate } from '../support/test-certificate.ts';

const KEY = 'bm8tb25lOmtub3dzLXRoaXM=';
/** As Elasticsearch answers. */
const UNKNOWN_KEY = {
  type: 'security_exception',
  reason:
    'unable to authenticate with provided credentials and anonymous access is not allowed for this request',
};
const space = `tls_${process.pid}`;

describe("Elasticsearch behind TLS, with a certificate of one's own and an API key", {
  ...(await needsElasticsearch()),
  timeout: 300_000,
}, () => {
  const certificate = createTestCertificate();
  const data = createDataDirectory();
  let proxy: ElasticsearchProxy;
  let server: RunningServer | undefined;
  const unauthorized = new Set<string | undefined>();

  beforeAll(async () => {
    proxy = await startElasticsearchProxy(await elasticsearchUrl(), certificate);
    proxy.intercept(({ authorization }) => {
      if (authorization === `ApiKey ${KEY}`) return undefined;
      unauthorized.add(authorization);
      return { status: 401, json: { error: { ...UNKNOWN_KEY, root_cause: [UNKNOWN_KEY] }, status: 401 } };
    });
  });
  afterAll(async () => {
    await server?.stop();
    proxy.close();
    certificate.remove();
  });

  const start = (...more: readonly string[]) =>
    startServer({ data, arguments: ['--read-index', proxy.url, '--space', space, ...more] });
  const AUTHORITY = ['--read-index-ca', certificate.authorityFile];

  it('is written and searched', async () => {
    server = await start(...AUTHORITY, '--read-index-api-key', KEY);
    const { call } = createApiClient(server.url);
    expect((await call('POST', '/api/tags', { data: { key: 'a', name: 'secured' } })).status).toBe(201);
    expect(await call('GET', '/api/tags?filters[name][$eq]=secured')).toMatchObject({
      status: 200,
      data: [{ key: 'a' }],
    });
    expect(unauthorized.size).toBe(0);
    expect((await server.stop()).code).toBe(0);
    server = undefined;
  });

  it.each([
    ['an authority that nobody has named', ['--read-index-api-key', KEY], /certificate/],
    ['a wrong API key', [...AUTHORITY, '--read-index-api-key', 'd3Jvbmc6a2V5'], /unable to authenticate/],
  ])('%s is named, and the key stays secret', async (_what, more, named) => {
    const args = ['--content-types', CONFORMANCE_SCHEMA, '--data', data, '--port', '0', '--space', space];
    const refused = spawnVarve(['serve', ...args, '--read-index', proxy.url, ...more]);
    await expect.poll(refused.output, { timeout: 30_000 }).toMatch(named);
    refused.child.kill('SIGTERM');
    const { output } = await refused.exited;
    expect(output).not.toContain(KEY);
    expect(output).not.toContain('d3Jvbmc6a2V5');
  });
});
