import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { createExchange, Unreachable } from '../../shared/read-index/elasticsearch/wire/exchange.ts';
import { readPlainAnswers } from '../../shared/read-index/elasticsearch/wire/plain-answer.ts';
import {
  readSearchAnswer,
  readSearchAnswers,
  SearchFailure,
} from '../../shared/read-index/elasticsearch/wire/search-answer.ts';
import { createSearchEngine } from '../../shared/read-index/elasticsearch/wire/search-engine.ts';
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

function exchangeWith(url: string) {
  const client = createElasticsearchClient({ url, username: 'u', password: 'p' });
  onTestFinished(() => client.close());
  return createExchange(client);
}

describe('an exchange with a cluster', () => {
  it('is sent below the path of the cluster with the credentials of the client, and accepts answers in pieces', async () => {
    const seen: string[] = [];
    const url = await listen(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { authorization, 'content-type': type } = request.headers;
      seen.push(`${request.method} ${request.url} ${authorization} ${type} ${body}`);
      response.writeHead(202);
      response.write('one ');
      setImmediate(() => response.end('two'));
    });
    const { status, bytes } = await exchangeWith(`${url}/below/`)('/a/_search?b', '{}');
    expect([status, bytes.toString()]).toEqual([202, 'one two']);
    expect(seen).toEqual(['POST /below/a/_search?b Basic dTpw application/json {}']);
  });

  it('retries once if a connection ends without an answer', async () => {
    let requests = 0;
    const url = await listen((request, response) => {
      if (++requests === 1) request.socket.destroy();
      else response.end('here');
    });
    expect((await exchangeWith(url)('/', '{}')).bytes.toString()).toBe('here');
    const dead = await listen((request) => {
      requests++;
      request.socket.destroy();
    });
    await expect(exchangeWith(dead)('/', '{}')).rejects.toBeInstanceOf(Unreachable);
    expect(requests).toBe(4);
  });
});

describe('the body of a search answer', () => {
  it('returns sources as bytes and everything else parsed, for any content of strings', () => {
    const sort = ['"src":["x"]', 'é\u{1F600}"src":["', null, 3];
    const hits = [
      { fields: { key: [1], src: [base64('{"name":"Zoë"}')] }, sort },
      { fields: { key: [2] } },
      { fields: { src: [base64('')], key: [3] } },
    ];
    const body = Buffer.from(JSON.stringify({ took: 1, hits: { total: { value: 9 }, hits } }));
    const answer = readSearchAnswer(body);
    expect(answer.hits.total?.value).toBe(9);
    expect(answer.hits.hits.map(({ source }) => source && Buffer.from(source).toString())).toEqual([
      '{"name":"Zoë"}',
      undefined,
      '',
    ]);
    expect(answer.hits.hits[0]?.sort).toEqual(sort);
    expect(answer.hits.hits.map(({ fields }) => fields?.['key'])).toEqual([[1], [2], [3]]);
  });

  it('returns a plain page without parsing it, for any order of its fields', () => {
    const hits = [
      { _index: 'a', fields: { key: [12], src: [base64('{"name":"Zoë"}')] }, sort: ['é"key":[7]', 1] },
      { _index: 'a', fields: { src: [base64('{}')], key: [9007199254740991] }, sort: ['x', 2] },
      {
        _index: 'a',
        fields: { src: [base64('a')], key: [3], parts: ['eA=='] },
        sort: [']', '\\', '"]}', null],
      },
      {
        _index: 'a',
        fields: { key: [4], src: [base64('b'.repeat(3000))] },
        sort: ['{"fields":{"key":[5]}}'],
      },
      { _index: 'a', fields: { key: [6], src: [''] }, sort: [] },
    ];
    for (const total of [{ total: { value: 2, relation: 'eq' } }, {}]) {
      const body = Buffer.from(JSON.stringify({ took: 1, hits: { ...total, max_score: null, hits } }));
      const [page, whole] = [readPlainAnswers(body, 1)?.[0], readSearchAnswer(body)];
      expect(page?.hits.total?.value).toBe(whole.hits.total?.value);
      const rows = (answer: typeof whole | undefined) =>
        answer?.hits.hits.map(({ fields, source = [] }) => [fields?.['key'], Buffer.from(source).toString()]);
      expect(rows(page)).toEqual(rows(whole));
    }
    const read = (text: string, searches = 1) => readPlainAnswers(Buffer.from(text), searches);
    const none = { hits: { total: { value: 0 }, hits: [] } };
    expect(read('{"hits":{"total":{"value":0},"hits":[]}}')).toEqual([none]);
    const two =
      '{"responses":[{"hits":{"total":{"value":0},"hits":[]}},{"hits":{"hits":[{"fields":{"key":[7]}}]}}]}';
    expect(read(two, 2)).toEqual([none, { hits: { hits: [{ fields: { key: [7] } }] } }]);
    // A full JSON parser reads the answers that do not have the expected form.
    expect(read(two)).toBeUndefined();
    for (const odd of [
      '{"key":[1,2]}',
      '{"key":[1.5]}',
      '{"key":[-1]}',
      '{"key":[]}',
      '{"src":[{}]}',
      '{}',
    ]) {
      expect(read(`{"hits":{"hits":[{"fields":${odd}}]}}`)).toBeUndefined();
    }
    expect(read('{"error":{}}')).toBeUndefined();
    expect(read('{"responses":[{"error":{}},{"hits":{"hits":[]}}]}', 2)).toBeUndefined();
    const whole =
      '{"hits":{"total":{"value":1},"hits":[{"fields":{"src":["eA=="],"key":[7]},"sort":["a",1]}]}}';
    expect(read(whole)?.[0]?.hits.hits).toHaveLength(1);
    // The reader does not need the last two braces.
    for (let length = 0; length < whole.length - 2; length++) {
      expect(read(whole.slice(0, length))).toBeUndefined();
    }
  });

  it('gives each of several searches its own sources, and says which of them failed', () => {
    const found = (...texts: string[]) => ({
      status: 200,
      hits: { hits: texts.map((text) => ({ fields: { src: [base64(text)] } })) },
    });
    const body = (...responses: object[]) => Buffer.from(JSON.stringify({ took: 1, responses }));
    const failed = { status: 503, error: { type: 'gone' } };
    const outcomes = readSearchAnswers(body(found('a', 'b'), found(), failed, found('c')));
    const texts = outcomes.map((outcome) =>
      outcome.kind === 'failed'
        ? outcome.error
        : outcome.answer.hits.hits.map(({ source = [] }) => Buffer.from(source).toString()),
    );
    expect(texts).toEqual([['a', 'b'], [], new SearchFailure(503, '{"type":"gone"}'), ['c']]);
  });
});

describe('a search on a cluster that cannot answer now', () => {
  async function searchAnswered(status: number, reason = 'why') {
    const url = await listen((_, response) => response.writeHead(status).end(`{"error":"${reason}"}`));
    const client = createElasticsearchClient({ url });
    onTestFinished(() => client.close());
    return createSearchEngine(client).search([{ index: 'a', body: { size: 1, query: { match_all: {} } } }]);
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
