import { expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Span, startCollector } from '../support/trace-collector.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

it('sends spans of a read, a write and the projection, below those of the caller', async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const server = await startServer({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'varve-test' },
  });
  onTestFinished(() => server.dispose());
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, 'content-type': 'application/json' };
  const body = JSON.stringify({ data: { key: 'a', name: 'secret words' } });
  expect((await fetch(`${server.url}/api/restaurants`, { method: 'POST', headers, body })).status).toBe(201);
  const query = 'filters[name]=secret words&populate=tags';
  const read = { ...headers, 'x-request-id': 'the-read' };
  expect((await fetch(`${server.url}/api/restaurants?${query}`, { headers: read })).status).toBe(200);
  // A server sends its remaining spans before it ends.
  expect((await server.stop()).code).toBe(0);
  const { spans } = collector;
  expect(collector.service()).toBe('varve-test');
  const named = (name: string) => spans.filter((span) => span.name === name && span.traceId === TRACE);
  const [get] = named('GET /api/restaurants');
  const [post] = named('POST /api/restaurants');
  for (const request of [get, post]) expect(request?.parentSpanId).toBe(CALLER);
  expect(get?.attributes).toContainEqual({ key: 'varve.request.id', value: { stringValue: 'the-read' } });
  expect(get?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 200 } });
  const below = (parent: Span | undefined) =>
    spans.filter((span) => span.parentSpanId === parent?.spanId).map(({ name }) => name);
  expect(below(get)).toEqual(['plan', 'search', 'populate']);
  expect(below(post)).toContain('append');
  expect(spans.some(({ name }) => name === 'project')).toBe(true);
  // Traces contain no content and no query of a user.
  expect(JSON.stringify(spans)).not.toMatch(/secret/);
});

it('hides the application and the key of an Algolia client in spans and logs', async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const server = await startServer({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    arguments: ['--slow-query-ms', '1', '--log-level', 'trace'],
  });
  onTestFinished(() => server.dispose());
  const token = await createTokenOver(createAsk(server.url), { name: 'site', type: 'read-only' });
  const post = async (key: string, body: object) => {
    const url = `${server.url}/1/indexes/*/queries?x-algolia-application-id=quagga-app&x-algolia-api-key=${key}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    await answer.text();
    return answer.status;
  };
  const query = { indexName: 'restaurants', query: 'a', facets: ['name'] };
  expect(await post(token, { requests: Array.from({ length: 50 }, () => query) })).toBe(200);
  expect(await post(token, { requests: [{ indexName: 'nope' }] })).toBe(404);
  expect(await post('quagga-key', {})).toBe(401);
  const { code, output } = await server.stop();
  expect(code).toBe(0);
  expect(output).toContain('slow query');
  expect(collector.spans.some(({ name }) => name === 'POST /1/indexes/:index/queries')).toBe(true);
  for (const text of [output, JSON.stringify(collector.spans)]) {
    expect(text).not.toMatch(/quagga/);
    expect(text).not.toContain(token);
  }
});

it('works without a collector that answers', takesMinutes('a silent collector'), async () => {
  const server = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
  onTestFinished(() => server.dispose());
  expect((await fetch(`${server.url}/api/restaurants`)).status).toBe(200);
  expect((await server.stop()).code).toBe(0);
});
