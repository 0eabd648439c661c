import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { errors } from '@elastic/elasticsearch';
import { expect, it, onTestFinished } from 'vitest';
import type { IndexableDocument } from '../../shared/read-index/document-index.ts';
import { sendBulk } from '../../shared/read-index/elasticsearch/bulk-request.ts';
import { createByteSlabs } from '../../shared/read-index/elasticsearch/documents/byte-slabs.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';

/** Returns a client of a server that answers with `respond`. */
async function clientOf(respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createElasticsearchClient({ url: `http://127.0.0.1:${port}`, username: 'u', password: 'p' });
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

/** Sends documents of a size to a server that answers with `respond`, and notes the keys of each request. */
async function send(
  keys: readonly number[],
  respond: (keys: readonly number[], to: ServerResponse) => void,
  bytes = 0,
) {
  const requests: number[][] = [];
  const client = await clientOf(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const sent = body.trim().split('\n').map(Number);
    requests.push(sent);
    response.setHeader('x-elastic-product', 'Elasticsearch');
    response.setHeader('content-type', 'application/json');
    respond(sent, response);
  });
  const documents = keys.map(
    (key): IndexableDocument => ({
      type: 'api::a.a',
      world: 'draft',
      key,
      position: 1n,
      bytes: Buffer.from(`${String(key).padStart(bytes)}\n`),
    }),
  );
  const outcomes = await sendBulk(client, createByteSlabs(), documents, { refresh: false });
  return { outcomes, requests };
}

it('takes the outcome of each document from its own status', async () => {
  const statuses = [200, 409, 429, 503, 400];
  const { outcomes } = await send([1, 2, 3, 4, 5], (keys, response) => {
    const error = { type: 'some_exception', reason: 'why', caused_by: { reason: 'because' } };
    const items = keys.map((_, at) => {
      const status = statuses[at] ?? 200;
      return { index: status < 300 ? { status } : { status, error } };
    });
    response.end(JSON.stringify({ errors: true, items }));
  });
  const reason = 'some_exception: why (because)';
  expect(outcomes).toEqual([
    { kind: 'written' },
    // Written: the index already has a newer state.
    { kind: 'written' },
    { kind: 'again', reason },
    { kind: 'again', reason },
    { kind: 'refused', reason },
  ]);
});

it.each([
  ['an operation above the limit', 1, 105_266_196, [1], 'refused'],
  ['an operation that does not fit next to its own request', 11_117_144, 44_469_000, [1], 'refused'],
  ['an operation that would fit alone', 30_000_000, 44_469_000, [1], 'again'],
  ['several documents', 1, 105_266_196, [1, 2], 'again'],
] as const)(
  'takes a document for refused if the memory of its node is too small for it alone: %s',
  async (_, held, operation, keys, kind) => {
    const reason = `rejected execution of primary operation [coordinating_and_primary_bytes=${held}, replica_bytes=0, all_bytes=${held}, primary_operation_bytes=${operation}, max_primary_bytes=53687091]`;
    const error = { type: 'es_rejected_execution_exception', reason };
    const respond = (sent: readonly number[], to: ServerResponse) =>
      to.end(JSON.stringify({ errors: true, items: sent.map(() => ({ index: { status: 429, error } })) }));
    const { outcomes } = await send(keys, respond, 11_117_000);
    expect(outcomes).toEqual(keys.map(() => ({ kind, reason: `${error.type}: ${reason}` })));
  },
);

it('sends a request that is too large in halves, down to a document that is too large alone', async () => {
  const { outcomes, requests } = await send([1, 2, 3], (keys, response) => {
    if (keys.length > 1 || keys[0] === 2) response.writeHead(413).end('{}');
    else response.end(JSON.stringify({ errors: false, items: [{ index: { status: 200 } }] }));
  });
  expect(requests).toEqual([[1, 2, 3], [1, 2], [1], [2], [3]]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'again', 'written']);
});

it('rejects if the request as a whole is refused, or answered for other documents', async () => {
  await expect(send([1], (_, response) => response.writeHead(429).end('{}'))).rejects.toThrow();
  const short = send([1, 2], (_, response) => response.end('{"errors":false,"items":[]}'));
  await expect(short).rejects.toThrow('a bulk of 2 documents was answered for 0');
});

it.each([
  [
    'refuses it',
    (to: ServerResponse) => void to.writeHead(429, { 'x-elastic-product': 'Elasticsearch' }).end(),
  ],
  ['ends the connection', (to: ServerResponse) => void to.destroy()],
])(
  'the error of a request has neither a copy of its body nor its secrets, if the server %s',
  async (_, respond) => {
    const client = await clientOf((request, response) => {
      request.resume().on('end', () => respond(response));
    });
    const body = Buffer.alloc(100_000, ' ');
    const sent = client.transport.request({ method: 'POST', path: '/_bulk', body }, { maxRetries: 0 });
    const error = await sent.then(
      () => undefined,
      (failure: errors.ResponseError) => failure,
    );
    expect(error?.meta.meta.request.params.body).toBe(body);
    expect(inspect(error, { depth: 10 })).not.toContain(Buffer.from('u:p').toString('base64'));
  },
);
