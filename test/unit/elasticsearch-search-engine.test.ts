import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createElasticsearchClient,
  keepAnsweringNodes,
} from '../../shared/read-index/elasticsearch/wire/client.ts';
import { SearchFailure } from '../../shared/read-index/elasticsearch/wire/search-answer.ts';
import { createSearchEngine } from '../../shared/read-index/elasticsearch/wire/search-engine.ts';
import type { Search } from '../../shared/read-index/elasticsearch/wire/write-search.ts';
import { base64 } from '../support/base64.ts';

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ONE: Search = { index: 'a', body: { size: 1, query: { match_all: {} } } };
const EMPTY = '{"hits":{"hits":[]}}';

function engineOf(url: string) {
  const client = createElasticsearchClient({ url, username: 'u', password: 'p' });
  onTestFinished(() => client.close());
  return createSearchEngine(client);
}

/** Starts a node that answers searches, and counts them. */
async function startNode(answer: RequestListener = (_, response) => void sendJson(response, EMPTY)) {
  let searches = 0;
  const url = await listen((request, response) => {
    if (request.method === 'HEAD') return void response.end();
    searches++;
    answer(request, response);
  });
  return { url, searches: () => searches };
}

function sendJson(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' });
  response.end(text);
}

const SILENT: RequestListener = () => {};

describe('a search', () => {
  it('is sent below the path of the cluster with its credentials, and returns sources as bytes', async () => {
    const seen: string[] = [];
    const found = (...texts: string[]) => ({
      status: 200,
      hits: { hits: texts.map((text) => ({ fields: { key: [1], src: [base64(text)] } })) },
    });
    const { url } = await startNode(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { authorization, 'content-type': type } = request.headers;
      seen.push(`${request.method} ${request.url} ${authorization} ${type} ${body}`);
      sendJson(
        response,
        JSON.stringify(
          seen.length === 1 ? found('{"name":"Zoë"}') : { responses: [found('a', ''), found()] },
        ),
      );
    });
    const engine = engineOf(`${url}/below/`);
    const sources = async (...searches: readonly Search[]) =>
      (await engine.search(searches)).map(({ hits }) =>
        hits.hits.map(({ source = [] }) => Buffer.from(source).toString()),
      );
    expect(await sources(ONE)).toEqual([['{"name":"Zoë"}']]);
    expect(await sources(ONE, ONE)).toEqual([['a', ''], []]);
    const text =
      '{"_source":false,"stored_fields":"_none_","track_total_hits":false,"size":1,"query":{"match_all":{}}}';
    const head = '{"index":"a","allow_partial_search_results":false}';
    expect(seen).toEqual([
      `POST /below/a/_search?allow_partial_search_results=false Basic dTpw application/json ${text}`,
      `POST /below/_msearch Basic dTpw application/json ${head}\n${text}\n${head}\n${text}\n`,
    ]);
  });

  it('fails if one of several searches fails', async () => {
    const responses = [
      { status: 200, hits: { hits: [] } },
      { status: 503, error: { type: 'gone' } },
    ];
    const { url } = await startNode((_, response) => sendJson(response, JSON.stringify({ responses })));
    await expect(engineOf(url).search([ONE, ONE])).rejects.toMatchObject({ code: 'read-index-unavailable' });
  });

  it('is sent once more if a connection ends without an answer', async () => {
    const { url, searches } = await startNode((request, response) => {
      if (searches() === 1) request.socket.destroy();
      else sendJson(response, EMPTY);
    });
    expect(await engineOf(url).search([ONE])).toHaveLength(1);
    const dead = await startNode((request) => request.socket.destroy());
    await expect(engineOf(dead.url).search([ONE])).rejects.toMatchObject({ code: 'read-index-unavailable' });
    expect(dead.searches()).toBe(2);
  });
});

describe('a search with several addresses', () => {
  it('goes to the nodes in turn, and leaves out one that has ended', async () => {
    const nodes = [await startNode(), await startNode()];
    const dead = await startNode((request) => request.socket.destroy());
    const engine = engineOf([dead, ...nodes].map(({ url }) => url).join());
    for (let i = 0; i < 12; i++) expect(await engine.search([ONE])).toHaveLength(1);
    expect(dead.searches()).toBe(1);
    for (const { searches } of nodes) expect(searches()).toBeGreaterThan(4);
  });

  it('is sent to another node after 2.5 s, and leaves out the node that hangs', async () => {
    const hanging = await listen(SILENT);
    const node = await startNode();
    const engine = engineOf(`${hanging}, ${node.url}`);
    const started = performance.now();
    expect(await Promise.all([engine.search([ONE]), engine.search([ONE])])).toHaveLength(2);
    expect(performance.now() - started).toBeGreaterThan(2_000);
    const before = node.searches();
    for (let i = 0; i < 6; i++) await engine.search([ONE]);
    expect(node.searches()).toBe(before + 6);
  });

  it('keeps a node whose search was slow, if the node answers otherwise', async () => {
    const slow = await startNode((_, response) => {
      if (slow.searches() > 1) sendJson(response, EMPTY);
    });
    const node = await startNode();
    const engine = engineOf(`${slow.url},${node.url}`);
    await Promise.all([engine.search([ONE]), engine.search([ONE])]);
    const searchAgain = async () => {
      await engine.search([ONE]);
      return slow.searches();
    };
    await expect.poll(searchAgain).toBeGreaterThan(1);
  });
});

it('a node that did not answer is asked again only when it has answered for three seconds', async () => {
  let requests = 0;
  const node = await listen((request, response) => {
    if (++requests === 1) request.socket.destroy();
    else response.end();
  });
  const client = createElasticsearchClient({ url: `${node},${await listen(SILENT)}` });
  onTestFinished(() => client.close());
  const { connectionPool } = client;
  const [connection = expect.unreachable()] = connectionPool.connections.filter(({ url }) =>
    node.startsWith(url.origin),
  );
  connectionPool.markDead(connection);
  for (const count of [1, 2]) {
    keepAnsweringNodes(client);
    await expect.poll(() => requests).toBe(count);
    // Two turns of the event loop, in which the client reads the answer.
    for (const _ of [1, 2]) await delay(100);
    expect(connection.status).toBe('dead');
  }
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_000);
  onTestFinished(() => clock.mockRestore());
  keepAnsweringNodes(client);
  await expect.poll(() => connection.status).toBe('alive');
});

describe('a search on a cluster that cannot answer now', () => {
  async function searchAnswered(status: number, reason = 'why') {
    const url = await listen((_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(`{"error":"${reason}"}`),
    );
    return engineOf(url).search([ONE]);
  }

  it.each([404, 429, 502, 503, 504])('is a 503 for %i', async (status) => {
    await expect(searchAnswered(status)).rejects.toMatchObject({ code: 'read-index-unavailable' });
  });

  it.each([400, 401, 403, 500])('is a 503 with the reason for the log for %i', async (status) => {
    await expect(searchAnswered(status)).rejects.toMatchObject({
      code: 'read-index-unavailable',
      cause: new SearchFailure(status, '{"error":"why"}'),
    });
  });

  it.each([
    [400, 'too_many_nested_clauses'],
    [400, 'limit: [index.max_terms_count]'],
    [413, 'why'],
  ])('is a 400 for a search that is too large: %i %s', async (status, reason) => {
    await expect(searchAnswered(status, reason)).rejects.toMatchObject({ code: 'query-too-large' });
  });
});
