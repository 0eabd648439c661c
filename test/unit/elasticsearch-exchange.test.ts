import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/client.ts';
import { createExchange, Unreachable } from '../../shared/read-index/elasticsearch/exchange.ts';
import { readSearchAnswer } from '../../shared/read-index/elasticsearch/search-answer.ts';

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
  it("goes below the cluster's path with the client's credentials, and takes answers in pieces", async () => {
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

  it('tries again where a connection ends without an answer, once', async () => {
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
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  it('gives sources as bytes and all else as parsed, whatever its strings hold', () => {
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
});
