import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { watchLoad } from '../../services/operator/watch-load.ts';

const REQUESTS = 150;
const SLOW_MS = 60;

/** Returns the first sample that contains requests, while a server answers with a delay. */
async function sampled(path: string): Promise<number> {
  const server = createServer(async (_request, response) => {
    await delay(SLOW_MS);
    response.end();
  }).listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  const samples = watchLoad(stop.signal);
  const first = samples.next();
  await Promise.all(
    Array.from({ length: REQUESTS }, async () =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).arrayBuffer(),
    ),
  );
  const values = [(await first).value, (await samples.next()).value];
  stop.abort();
  await samples.return(undefined);
  server.close();
  return Math.max(...values.map((value) => value?.delayMs ?? 0));
}

it('reports how long requests take, also if the process does little for them', async () => {
  expect(await sampled('/api/cooks')).toBeGreaterThanOrEqual(SLOW_MS - 2);
});
