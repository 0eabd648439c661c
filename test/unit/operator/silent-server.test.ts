import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openOperatorListener } from '../../../services/http/operator-listener.ts';
import { ownSocket } from '../../../services/http/sockets/listening-socket.ts';
import { callOperator, ServerSilent } from '../../../services/operator/call-operator.ts';
import type { OperatorContext } from '../../../services/operator/operation.ts';
import { SIGN_OF_LIFE } from '../../../services/operator/operator-protocol.ts';

const MINUTE_MS = 60_000;

/** Fakes only the ticks of a waiting command. Requests and pauses of the test take their real time. */
function fakeTicks(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Script of a process that answers with one line but never ends its answer. */
const SERVER = `
  const server = require('node:http').createServer((request, response) => response.write('{"line":"first"}\\n'));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

async function startServer() {
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const pid = child.pid ?? 0;
  return { pid, pause: () => process.kill(pid, 'SIGSTOP'), address: `http://127.0.0.1:${port}` };
}

const SILENT = (pid: number) =>
  new RegExp(`process ${pid}, has sent nothing for a minute.*kill -CONT.*kill -9.*run this command again`);

it('ends a command whose server was paused before its answer', async () => {
  const { pid, address, pause } = await startServer();
  pause();
  fakeTicks();
  const line = callOperator({ address, secret: 's', pid }, 'status', {}).next();
  const refused = expect(line).rejects.toThrow(SILENT(pid));
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  await refused;
  await expect(line).rejects.toBeInstanceOf(ServerSilent);
});

it('ends a command whose server was paused in its answer', async () => {
  const { pid, address, pause } = await startServer();
  fakeTicks();
  const lines = callOperator({ address, secret: 's', pid }, 'rebuild', {});
  expect(await lines.next()).toEqual({ done: false, value: 'first' });
  pause();
  const refused = expect(lines.next()).rejects.toThrow(SILENT(pid));
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  await refused;
});

/** Starts a server in this process. `answer`: the answer that it has begun. */
async function startHere() {
  const begun = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => begun.resolve(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, answer: begun.promise };
}

const MINUTES = 5;

it('waits for the next line of a slow server as long as it shows that it runs', async () => {
  const { address, answer } = await startHere();
  fakeTicks();
  const lines = Array.fromAsync(callOperator({ address, secret: 's', pid: 1 }, 'rebuild', {}));
  const response = await answer;
  for (let second = 0; second < MINUTES * 60; second++) {
    response.write(SIGN_OF_LIFE);
    await delay(2);
    vi.advanceTimersByTime(1_000);
  }
  response.end(`{"line":"first"}\n${SIGN_OF_LIFE}{"done":true}\n${SIGN_OF_LIFE}`);
  expect(await lines).toEqual(['first']);
});

it('waits without a limit for a server of a release that sends no signs of life', async () => {
  const { address, answer } = await startHere();
  fakeTicks();
  const lines = Array.fromAsync(callOperator({ address, secret: 's' }, 'rebuild', {}));
  const response = await answer;
  await vi.advanceTimersByTimeAsync(MINUTES * MINUTE_MS);
  response.end('{"done":true}\n');
  expect(await lines).toEqual([]);
});

it('sends signs of life during an operation that yields nothing', async () => {
  const listener = await openOperatorListener({ secret: 's', socket: ownSocket });
  onTestFinished(() => listener.close());
  // The builder of the next generation reports nothing.
  const build = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) });
  listener.serve({ build, generations: { refuseTakeOver() {} } } as unknown as OperatorContext);
  const answer = await fetch(`${listener.channel.address}/_varve/operations/rebuild`, {
    method: 'POST',
    headers: { 'x-varve-operator': 's' },
    body: '{"graph":true,"accept":false}',
  });
  const { value } = (await answer.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toBe(SIGN_OF_LIFE);
});
