import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callOperator } from '../../../services/operator/call-operator.ts';
import type { AnswerLine } from '../../../services/operator/operator-protocol.ts';

/** Limit of a command's wait for a starting server. */
const STARTING_LIMIT_MS = 60_000;
const STEP_MS = 10_000;

/** Starts a server that refuses so many requests while it starts. Each request advances the clock. */
async function startSlowly(refusals: number) {
  const clock = { at: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.at);
  onTestFinished(() => void vi.restoreAllMocks());
  let requests = 0;
  const lines: readonly AnswerLine[] = [{ line: 'the answer' }, { done: true }];
  const server = createServer((_request, response) => {
    requests += 1;
    clock.at += STEP_MS;
    if (requests <= refusals) response.writeHead(503).end('the server is starting');
    else response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ask: () => Array.fromAsync(callOperator({ address, secret: 'secret' }, 'status', {})),
    requests: () => requests,
  };
}

it('waits a minute for a server that is starting', async () => {
  const { ask, requests } = await startSlowly(Number.POSITIVE_INFINITY);
  await expect(ask()).rejects.toThrow('the server is starting');
  expect(requests()).toBe(STARTING_LIMIT_MS / STEP_MS + 1);
});

it('takes the answer of a server that has started meanwhile', async () => {
  const { ask } = await startSlowly(STARTING_LIMIT_MS / STEP_MS);
  expect(await ask()).toEqual(['the answer']);
});
