import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { fastDigest } from '../../shared/fast-digest.ts';
import { createApiClient } from '../support/api-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const ROWS = 60;
/** Length of a row's text. A page of `ROWS` has some 700 KB, which fill the kernel's buffers for a client that does not read. */
const TEXT_BYTES = 12_000;

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
  const api = createApiClient(server.url);
  for (let i = 0; i < ROWS; i++) {
    const bio = `${i} `.repeat(TEXT_BYTES / `${i} `.length);
    await api.data('POST', '/api/chefs', { data: { key: `c${i}`, name: `Chef ${i}`, bio } });
  }
});
afterAll(() => server?.dispose());

type Answer = { readonly head: string; readonly body: Buffer };

/** Returns a URL. Each is requested once, so that no answer comes from the cache. */
const page = (limit: number, i: number): string =>
  `/api/chefs?pagination[limit]=${limit}&pagination[start]=${i % 5}&filters[name][$ne]=${i}`;

function readAnswers(socket: Socket, count: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  let bytes: Buffer[] = [];
  let length = 0;
  let wanted = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Answer[]>();
  socket.on('data', (chunk) => {
    bytes.push(chunk as Buffer);
    length += chunk.length;
    while (length > 0 && length >= wanted) {
      const all = Buffer.concat(bytes);
      bytes = [all];
      const end = all.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = all.toString('latin1', 0, end);
      wanted = end + 4 + Number(/content-length: (\d+)/.exec(head)?.[1]);
      if (length < wanted) return;
      answers.push({ head, body: all.subarray(end + 4, wanted) });
      bytes = [all.subarray(wanted)];
      length -= wanted;
      wanted = 0;
    }
    if (answers.length === count) resolve(answers);
  });
  socket.once('close', () => reject(new Error(`closed after ${answers.length} of ${count} answers`)));
  socket.resume();
  return promise;
}

/** Checks the body against the digest in the ETag, which was made before a byte was sent. */
function expectWhole({ head, body }: Answer, url: string): void {
  const etag = /etag: "([^"]*)"/.exec(head)?.[1] ?? '';
  expect(etag.endsWith(fastDigest(body)), url).toBe(true);
  expect(JSON.parse(body.toString())).toHaveProperty('data');
}

async function openSlow(urls: readonly string[]): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  return socket;
}

it('sends every client its own bytes, also when it reads slowly and others disconnect', async () => {
  let asked = 0;
  const urls = (count: number, limit: number) => Array.from({ length: count }, () => page(limit, asked++));
  const slow: { readonly asked: string[]; readonly socket: Socket }[] = [];
  for (let i = 0; i < 12; i++) {
    const list = urls(14, 40 + i);
    slow.push({ asked: list, socket: await openSlow(list) });
  }
  const gone = await Promise.all(Array.from({ length: 6 }, () => openSlow(urls(14, ROWS))));
  await delay(300);
  const fast = async (count: number) => {
    for (const url of urls(count, 1 + (asked % 50))) {
      const answer = await fetch(server.url + url);
      const body = Buffer.from(await answer.arrayBuffer());
      expectWhole({ head: `etag: ${answer.headers.get('etag')}`, body }, url);
    }
  };
  const others = Promise.all([fast(150), fast(150), fast(150), fast(150)]);
  for (const socket of gone) {
    await delay(10);
    socket.destroy();
  }
  await others;
  for (const { asked: list, socket } of slow) {
    const answers = await readAnswers(socket, list.length);
    for (const [i, answer] of answers.entries()) expectWhole(answer, list[i] as string);
  }
});

it('caches an answer that fills its memory exactly', async () => {
  const fetchOnce = async (url: string) => {
    const answer = await fetch(server.url + url);
    const body = Buffer.from(await answer.arrayBuffer());
    return { head: `etag: ${answer.headers.get('etag')}`, body };
  };
  const api = createApiClient(server.url);
  const { documentId } = await api.data<{ documentId: string }>('POST', '/api/chefs', {
    data: { key: 'exact', name: 'exact', bio: '' },
  });
  const url = '/api/chefs?filters[key]=exact';
  const { body } = await fetchOnce(url);
  await api.data('PUT', `/api/chefs/${documentId}`, { data: { bio: 'x'.repeat(2 ** 15 - body.length) } });
  const first = await fetchOnce(url);
  expect(first.body).toHaveLength(2 ** 15);
  for (let i = 0; i < 20; i++) {
    const again = await fetchOnce(url);
    expectWhole(again, url);
    expect(again.body.equals(first.body)).toBe(true);
    expectWhole(await fetchOnce(page(2, asks++)), 'another of the same size');
  }
});

let asks = 100_000;
