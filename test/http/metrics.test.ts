import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

async function startForTest(...args: readonly string[]): Promise<RunningServer> {
  const server = await startServer({ arguments: args });
  onTestFinished(() => server.dispose());
  return server;
}

async function scrape(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return answer.text();
}

function create(url: string, name: string): Promise<Response> {
  return fetch(`${url}/api/restaurants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key: name, name } }),
  });
}

describe('metrics of a server', () => {
  let before: string;
  let text: string;
  let position: string | null;

  beforeAll(async () => {
    const server = await startServer();
    try {
      const created = await create(server.url, 'a');
      position = created.headers.get('varve-position');
      const { data } = (await created.json()) as { data: { documentId: string } };
      const path = `${server.url}/api/restaurants`;
      // A start requests an example from itself.
      before = await scrape(server.url);
      for (const suffix of ['', '?populate=tags', '?filters[nope]=1', `/${data.documentId}`, '/gone', '?x=y'])
        await fetch(path + suffix);
      await fetch(path, { method: 'HEAD' });
      await fetch(path, { method: 'PATCH' });
      await fetch(`${server.url}/nowhere/at/all`);
      await fetch(`${server.url}/nowhere/else`);
      text = await scrape(server.url);
    } finally {
      await server.dispose();
    }
  });

  const counted = (name: string, labels: Readonly<Record<string, string>>) =>
    (sampleOf(text, name, labels) ?? 0) - (sampleOf(before, name, labels) ?? 0);

  it.each([
    ['GET', '/api/restaurants', '200', 2],
    ['GET', '/api/restaurants', '400', 2],
    ['GET', '/api/restaurants/:id', '200', 1],
    ['GET', '/api/restaurants/:id', '404', 1],
    ['HEAD', '/api/restaurants', '200', 1],
    ['PATCH', '/api/restaurants', '405', 1],
    ['GET', '(none)', '404', 2],
  ])('counts %s %s answered %s', (method, route, status, count) => {
    const labels = { method, route, status };
    expect(counted('varve_http_request_duration_seconds_count', labels)).toBe(count);
  });

  it('counts a query once in each of its phases', () => {
    const count = (phase: string) => counted('varve_query_phase_duration_seconds_count', { phase });
    // These are two lists, HEAD, an entry, and an entry that was not found.
    expect([count('plan'), count('search'), count('render')]).toEqual([5, 5, 5]);
    expect(count('populate')).toBe(1);
  });

  it('shows the position of the log, and that the index has caught up', () => {
    expect(String(sampleOf(text, 'varve_log_position'))).toBe(position);
    expect(String(sampleOf(text, 'varve_projection_position'))).toBe(position);
    expect(sampleOf(text, 'varve_projection_lag_events')).toBe(0);
    expect(sampleOf(text, 'varve_projection_lag_seconds')).toBe(0);
    expect(sampleOf(text, 'varve_ready')).toBe(1);
  });

  it('counts rows, appends and projected events', () => {
    const type = 'api::restaurant.restaurant';
    expect(sampleOf(text, 'varve_index_rows', { type, world: 'draft' })).toBe(1);
    expect(sampleOf(text, 'varve_index_rows', { type, world: 'published' })).toBe(1);
    expect(sampleOf(text, 'varve_append_duration_seconds_count')).toBe(1);
    expect(sampleOf(text, 'varve_append_conflicts_total')).toBe(0);
    expect(sampleOf(text, 'varve_projected_events_total')).toBeGreaterThan(0);
  });

  it('does not name paths that do not exist', () => {
    expect(text).not.toContain('nowhere');
  });
});

describe('who may see metrics', () => {
  it('with tokens: callers with full access', async () => {
    const server = await startForTest();
    const ask = createAsk(server.url);
    const full = await createTokenOver(ask, { name: 'prometheus', type: 'full-access' });
    const asFull = createAsk(server.url, full);
    const readOnly = await createTokenOver(asFull, { name: 'site', type: 'read-only' });
    const status = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await fetch(`${server.url}/metrics`, { headers })).status;
    };
    expect(await status()).toBe(401);
    expect(await status('Bearer nonsense')).toBe(401);
    expect(await status(`Bearer ${readOnly}`)).toBe(403);
    expect(await status(`Bearer ${full}`)).toBe(200);
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
  });

  it(
    'with a port of their own: everyone on that port, and nobody elsewhere',
    takesMinutes('a port for metrics'),
    async () => {
      const server = await startForTest('--metrics-port', '0', '--public', '');
      const own = /^Metrics and health are at (http:\S+)$/m.exec(server.output())?.[1] ?? '';
      expect(sampleOf(await scrape(own), 'varve_ready')).toBe(1);
      expect((await fetch(`${own}/health/ready`)).status).toBe(200);
      expect((await fetch(`${own}/api/restaurants`)).status).toBe(404);
      expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    },
  );

  it('with --metrics false: nobody', takesMinutes('servers without metrics'), async () => {
    const server = await startForTest('--metrics', 'false');
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });
});

describe('request ids and logs', () => {
  it('echoes a valid id, and makes its own otherwise', async () => {
    const server = await startForTest('--log-level', 'debug');
    const idOf = async (id: string, path: string) =>
      (await fetch(server.url + path, { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    for (const path of ['/api/restaurants', '/api/restaurants/gone', '/nowhere'])
      expect(await idOf('trace-1.a:b', path), path).toBe('trace-1.a:b');
    expect(await idOf('<script>', '/api/restaurants')).toBeNull();
    expect(await idOf('x'.repeat(129), '/nowhere')).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
  });

  it('logs slow queries with their id, their times and the query', async () => {
    const server = await startForTest('--slow-query-ms', '1');
    const names = Array.from({ length: 60 }, (_, i) => `filters[$or][${i}][name][$containsi]=${i}`);
    const path = `/api/restaurants?${names.join('&')}`;
    for (let i = 0; i < 200 && !server.output().includes('slow-one'); i++)
      await fetch(server.url + path, { headers: { 'x-request-id': 'slow-one' } });
    const line =
      server
        .output()
        .split('\n')
        .find((each) => each.includes('slow-one')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      level: 40,
      msg: 'slow query',
      requestId: 'slow-one',
      type: 'api::restaurant.restaurant',
      query: expect.stringContaining('filters[$or][0][name][$containsi]=0'),
      planMs: expect.any(Number),
      searchMs: expect.any(Number),
      populateMs: 0,
      renderMs: expect.any(Number),
    });
    const answer = await fetch(`${server.url}/_varve/slow-queries`);
    const { data, meta } = (await answer.json()) as { readonly data: unknown; readonly meta: unknown };
    expect(meta).toEqual({ thresholdMs: 1 });
    expect(data).toContainEqual(
      expect.objectContaining({
        at: expect.any(String),
        requestId: 'slow-one',
        renderMs: expect.any(Number),
      }),
    );
    const text = await scrape(server.url);
    expect(sampleOf(text, 'varve_slow_queries_total')).toBeGreaterThan(0);
  });
});
