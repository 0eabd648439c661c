import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../services/http/sockets/listen.ts';
import { createOperatingEndpoints } from '../../services/operating/operating-endpoints.ts';
import { createReadinessCheck, type ReadinessCheck } from '../../services/operating/readiness.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Starts a listener whose process has not loaded its data yet. */
async function startingServer(): Promise<{ readonly url: string; readonly readiness: ReadinessCheck }> {
  const readiness = createReadinessCheck(30);
  const first = createOperatingEndpoints({ readiness, metrics: undefined, access: () => 'starting' });
  const listener = await listen({ host: '127.0.0.1', port: 0, first });
  onTestFinished(() => listener.drain(0));
  return { url: listener.url, readiness };
}

it('is alive and not ready while data is being loaded', async () => {
  const { url } = await startingServer();
  const live = await fetch(`${url}/health/live`);
  expect([live.status, await live.json()]).toEqual([200, { status: 'live' }]);
  const ready = await fetch(`${url}/health/ready`);
  expect(ready.status).toBe(503);
  expect(ready.headers.get('retry-after')).toBe('1');
  expect(ready.headers.get('cache-control')).toBe('no-store');
  expect(await ready.json()).toEqual({
    status: 'unavailable',
    reason: 'starting',
    message: 'The data is being loaded',
  });
  expect((await fetch(`${url}/api/restaurants`)).status).toBe(503);
});

it('is not ready while it lags or drains, and stays alive', async () => {
  const { url, readiness } = await startingServer();
  readiness.serving(async () => 45.2);
  const lagging = await fetch(`${url}/health/ready`);
  expect([lagging.status, await lagging.json()]).toEqual([
    503,
    { status: 'unavailable', reason: 'lagging', message: 'Reads lag 45 s behind the event log' },
  ]);
  readiness.draining();
  const draining = await fetch(`${url}/health/ready`);
  expect([draining.status, await draining.json()]).toMatchObject([503, { reason: 'draining' }]);
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
});

it('answers HEAD without a body, other methods with 405, and nothing else below /health', async () => {
  const { url } = await startingServer();
  const head = await fetch(`${url}/health/live`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const post = await fetch(`${url}/health/ready`, { method: 'POST', body: 'x' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect((await fetch(`${url}/health/live?probe=1`)).status).toBe(200);
  expect((await fetch(`${url}/health/other`)).status).toBe(503);
});

it('is ready as soon as it serves', async () => {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const ready = await fetch(`${server.url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
  expect((await fetch(`${server.url}/_health`)).status).toBe(204);
  expect((await fetch(`${server.url}/health/other`)).status).toBe(404);
});

it('stays ready with an empty log', takesMinutes('readiness over time'), async () => {
  const server = await startServer({ arguments: ['--ready-lag-seconds', '1'] });
  onTestFinished(() => server.dispose());
  await delay(1_200);
  const ready = await fetch(`${server.url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
});

it('does not start if the port of metrics is in use, and names the port', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const data = createDataDirectory();
  const args = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--data', data, '--port', '0'];
  const { code, output } = await spawnVarve([...args, '--metrics-port', String(port)]).exited;
  expect(code).toBe(1);
  expect(output).toContain(`127.0.0.1:${port} is in use: choose another port with --metrics-port`);
});

it(
  'ends when the API cannot start although the port of metrics is free',
  takesMinutes('ports that are in use'),
  async () => {
    const server = await startServer();
    onTestFinished(() => server.dispose());
    const args = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--data', server.data, '--port', '0'];
    const { code, output } = await spawnVarve([...args, '--metrics-port', '0']).exited;
    expect(code).toBe(1);
    expect(output).toContain('is in use by process');
  },
);
