import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendPublicly } from '../../services/http/api/send-read.ts';
import { SLICE_OVER } from '../../shared/turns/slice.ts';
import { TURNS } from '../../shared/turns/turns.ts';

it('sends an answer before the next slice of a query that another client waits for', async () => {
  /** At each slice: the answer was sent. */
  const sent: boolean[] = [];
  let query: unknown;
  const server = createServer((request, response) => {
    query = TURNS.run(TURNS.task(1_000), () => () => {
      sent.push(response.writableEnded);
      if (sent.length < 3) throw SLICE_OVER;
    });
    sendPublicly(request, response, { etag: '"e"', isDraft: false }, Buffer.from('{}'));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(await answer.text()).toBe('{}');
  await query;
  expect(sent).toEqual([false, true, true]);
});
