import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { answerStarting } from '../../services/http/sockets/answer-starting.ts';
import { refuseTarget } from '../../services/http/sockets/request-target.ts';

async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

/** Sends a request that no client library would send. Returns the body of the answer. */
async function bodyOf(port: number, target: string): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  socket.end(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
}

it("answers requests before the start in the form that the path's clients read", async () => {
  const port = await listen(answerStarting);
  const answer = await fetch(`http://127.0.0.1:${port}/1/indexes/*/queries`, { method: 'POST', body: '{}' });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toEqual({ message: 'The server is starting', status: 503 });
  expect(await bodyOf(port, '/api/restaurants')).toMatchObject({ data: null, error: { status: 503 } });
});

it('refuses targets in the form that clients of the path read', async () => {
  const port = await listen((request, response) => void refuseTarget(request, response));
  expect(await bodyOf(port, '/1/indexes\\a')).toEqual({
    message: expect.stringMatching(/target/),
    status: 400,
  });
  expect(await bodyOf(port, '/api\\a')).toMatchObject({ error: { status: 400 } });
});
