import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { replaced, workers } from '../support/replaced-workers.ts';
import { startServer } from '../support/server.ts';
import { startWorkers } from '../support/several-workers.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A limit counts the caller of a request, also if one worker passes the request on to another one. */
const LONG = { ...takesMinutes('limits over workers that pass requests on'), timeout: 180_000 };

/** A caller with an address of its own. */
function createCaller(base: string, number: number, keepAlive: boolean) {
  const agent = new Agent({ keepAlive, maxSockets: 1, localAddress: `127.0.1.${number}` });
  onTestFinished(() => agent.destroy());
  return (path: string) =>
    new Promise<number>((resolve, reject) => {
      get(base + path, { agent }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      }).once('error', reject);
    });
}

it('a hand-over refuses no caller that is below the limit', LONG, async () => {
  const server = await startServer({ arguments: ['--rate-limit', '12'] });
  onTestFinished(() => server.dispose());
  const [first = 0] = workers(server);
  let isOver = false;
  /** More callers than the limit, each with fewer requests than the limit, on a connection that the first worker accepted. */
  const statuses = Array.from({ length: 40 }, async (_, n) => {
    const ask = createCaller(server.url, n + 1, true);
    const answered = [await ask('/api/restaurants')];
    for (; answered.length < 10 && !isOver; await delay(1_000)) answered.push(await ask('/api/restaurants'));
    return answered;
  });
  process.kill(server.supervisor, 'SIGHUP');
  await replaced(server, first);
  await delay(1_500);
  isOver = true;
  expect(new Set((await Promise.all(statuses)).flat())).toEqual(new Set([200]));
});

it('several workers count requests about the server by their callers', LONG, async () => {
  const server = await startWorkers(['--rate-limit', '20']);
  const callers = [1, 2, 3].map((n) => createCaller(server.url, n, false));
  const statuses: number[] = [];
  for (let i = 0; i < 15; i++) for (const ask of callers) statuses.push(await ask('/_varve/tokens'));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const more: number[] = [];
  for (let i = 0; i < 8; i++) more.push((await callers[0]?.('/_varve/tokens')) ?? 0);
  expect(more).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
});
