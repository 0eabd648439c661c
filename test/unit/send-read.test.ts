import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendPublicly } from '../../services/http/api/send-read.ts';
import { SLICE_OVER } from '../../shared/turns/slice.ts';
import { TURNS } from '../../shared/turns/turns.ts';

/** Number of clients. There are several, since the first answers of a process take longer. */
const CLIENTS = 5;

it('sends answers before the next slice of a query that another client waits for', async () => {
  const asked: [IncomingMessage, ServerResponse][] = [];
  /** True for each slice at which all answers were sent. */
  const sent: boolean[] = [];
  let query: unknown;
  const server = createServer((request, response) => {
    asked.push([request, response]);
    if (asked.length < CLIENTS) return;
    query = TURNS.run(TURNS.task(1_000), () => () => {
      sent.push(asked.every(([, { writableEnded }]) => writableEnded));
      if (sent.length < 3) throw SLICE_OVER;
    });
    for (const each of asked) sendPublicly(...each, { etag: '"e"', isDraft: false }, Buffer.from('{}'));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async () => (await fetch(url)).text();
  const answers = await Promise.all(Array.from({ length: CLIENTS }, ask));
  expect(new Set(answers)).toEqual(new Set(['{}']));
  await query;
  expect(sent).toEqual([false, true, true]);
});
