import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Starts a server that remembers the list of chefs. */
async function startRemembering(...args: readonly string[]): Promise<RunningServer> {
  const server = await startServer({ arguments: args });
  await createApiClient(server.url).data('POST', '/api/chefs', { data: { key: 'a', name: 'a' } });
  return server;
}

async function remember(url: string): Promise<Response> {
  for (let i = 0; i < 2; i++) await (await fetch(url)).text();
  return fetch(url);
}

const durations = 'varve_http_request_duration_seconds_count';

describe('a remembered answer', () => {
  let server: RunningServer;
  let list: string;
  beforeAll(async () => {
    server = await startRemembering();
    list = `${server.url}/api/chefs`;
    expect((await remember(list)).status).toBe(200);
  });
  afterAll(() => server?.dispose());

  it('is sent without the routes, and counts as an answer of its route', async () => {
    const counts = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const answers = (status: string) =>
        sampleOf(text, durations, { method: 'GET', route: '/api/chefs', status }) ?? 0;
      return { 200: answers('200'), 304: answers('304'), hits: sampleOf(text, HITS, {}) ?? 0 };
    };
    const before = await counts();
    const etag = (await fetch(list)).headers.get('etag') ?? '';
    for (let i = 0; i < 3; i++) await (await fetch(list)).text();
    expect((await fetch(list, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect(await counts()).toEqual({ 200: before[200] + 4, 304: before[304] + 1, hits: before.hits + 5 });
  });

  it('is refused to a page of another site while there are no tokens', async () => {
    const ask = (host: string) =>
      new Promise<number>((resolve, reject) => {
        // fetch does not allow setting Host.
        const sent = request(list, { headers: { host }, agent: false }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        });
        sent.on('error', reject).end();
      });
    expect(await ask('evil.example')).toBe(403);
    expect(await ask('localhost')).toBe(200);
  });

  it('is not for a token that does not exist', async () => {
    expect((await fetch(list, { headers: { authorization: 'Bearer nobody' } })).status).toBe(401);
  });

  it('is not for a position that the log has not reached', async () => {
    const at = (position: string) => fetch(list, { headers: { 'varve-min-position': position } });
    expect((await at('999999')).status).toBe(400);
    expect((await at('1')).headers.get('cache-control')).toBe('no-store');
  });

  it('is not for a client that asks for a stream', async () => {
    expect((await fetch(list, { headers: { accept: 'text/event-stream' } })).status).toBe(400);
    expect((await fetch(list, { headers: { accept: '*/*' } })).status).toBe(200);
  });

  it('has the request id that its caller sent', async () => {
    const answer = await fetch(list, { headers: { 'x-request-id': 'mine' } });
    expect(answer.headers.get('x-request-id')).toBe('mine');
    expect((await fetch(list)).headers.get('x-request-id')).toBeNull();
  });
});

it('counts for the rate limit like every other answer', async () => {
  const server = await startRemembering('--rate-limit', '10');
  onTestFinished(() => server.dispose());
  await remember(`${server.url}/api/chefs`);
  const statuses = [];
  for (let i = 0; i < 10; i++) statuses.push((await fetch(`${server.url}/api/chefs`)).status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

it('names the origins whose pages may read it', async () => {
  const server = await startRemembering('--cors', 'https://site.example');
  onTestFinished(() => server.dispose());
  const url = `${server.url}/api/chefs`;
  await remember(url);
  const answer = await fetch(url, { headers: { origin: 'https://site.example' } });
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://site.example');
  expect(answer.headers.get('vary')).toContain('Origin');
});

const HITS = 'varve_answer_cache_hits_total';
