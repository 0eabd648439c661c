import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ask } from '../support/hand-over-load.ts';
import { limitFiles } from '../support/limit-files.ts';
import { isRunning } from '../support/processes.ts';
import { generation, workers } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';
import { expectNoFailures, inRotation, pids, startWorkers, stopPairs } from '../support/several-workers.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';
import { startWorkerPairs } from '../support/worker-pairs.ts';

/** Several workers of one server answer reads, and one of them writes. */
const LONG = {
  ...takesMinutes('workers that are stopped, killed and replaced under load'),
  timeout: 300_000,
};
const PAIRS = Number(process.env['VARVE_PAIRS'] ?? count(200, 60));
const CLIENTS = 4;
const PAUSE_MS = 20;
/** Arguments of a second server, which the data directory's lock refuses. It must remove nothing of the first one. */
const SECOND = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--port', '0'];
it(
  'answers reads in every worker with every acknowledged write, and adds up limits and metrics',
  async () => {
    const server = await startWorkers(['--rate-limit', '1000000']);
    const pairs = startWorkerPairs(server.url, CLIENTS);
    await pairs.reached(PAIRS);
    await stopPairs(server, pairs);
    expectNoFailures(server, pairs);
    const { leading, reading } = pids(server);
    expect(new Set(workers(server))).toEqual(new Set([leading, reading]));
    // Scrapes use several connections. Each worker answers with the sum of all.
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      const { text } = await ask(`${server.url}/metrics`, false);
      expect(text).toMatch(/^varve_leading 1$/m);
      expect(text).toMatch(/^varve_ready 1$/m);
      const reads = /_count\{method="GET",route="\/api\/restaurants\/:[a-zA-Z]+",status="200"\} (\d+)/.exec(
        text,
      );
      counts.push(Number(reads?.[1]));
    }
    expect(new Set(counts).size).toBe(1);
    expect(counts[0]).toBeGreaterThanOrEqual(3 * pairs.written.length);
    const { stdout } = await runVarve(['status', '--json', '--data', server.data]);
    const position = expect.stringMatching(/^[1-9]\d*$/);
    expect(JSON.parse(stdout)).toMatchObject({
      server: { pid: server.supervisor },
      workers: [
        { pid: leading, role: 'leading', position },
        { pid: reading, role: 'reading', position },
      ],
    });
    const shown = (await runVarve(['status', '--data', server.data])).stdout;
    expect(shown).toMatch(new RegExp(`^leading +${leading} +position \\d+$`, 'm'));
    expect(shown).toMatch(new RegExp(`^reading +${reading} +position \\d+$`, 'm'));
    const second = await runVarve([...SECOND, '--data', server.data]);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by process') });
    expect(readdirSync(join(server.data, 'workers'))).toEqual([`1-${reading}`]);
    expect(await server.stop()).toMatchObject({ code: 0, signal: null });
    expect(readdirSync(join(server.data, 'workers'))).toEqual([]);
  },
  60_000 + PAIRS * 60,
);

it('counts requests and login attempts of all workers together', {
  ...takesMinutes('limits over several workers'),
  timeout: 300_000,
}, async () => {
  const server = await startWorkers(['--rate-limit', '40', '--login', 'true', '--login-rate-limit', '3']);
  const attempt = { identifier: 'someone@example.org', password: 'wrong-password' };
  const attempts: number[] = [];
  for (let i = 0; i < 8; i++)
    attempts.push((await ask(`${server.url}/api/auth/local`, false, attempt)).status);
  expect(attempts.slice(3)).toEqual([429, 429, 429, 429, 429]);
  expect(attempts.slice(0, 3)).not.toContain(429);
  const reads: number[] = [];
  for (let i = 0; i < 40; i++)
    reads.push((await ask(`${server.url}/api/restaurants?fields=name`, false)).status);
  // Login attempts count as requests too.
  expect(reads.indexOf(429)).toBe(32);
  expect(reads.slice(32)).toEqual(Array(8).fill(429));
});

it('acknowledges the revocation of a token when no worker accepts it any more', LONG, async () => {
  const server = await startWorkers();
  const request = async (method: string, path: string, token: string | undefined, body?: object) => {
    const headers = {
      'content-type': 'application/json',
      connection: 'close',
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify({ data: body }) };
    return fetch(`${server.url}${path}`, { method, headers, ...sent });
  };
  const make = async (name: string, token?: string) => {
    const made = await request('POST', '/_varve/tokens', token, { name, type: 'full-access' });
    expect(made.status).toBe(201);
    return ((await made.json()) as { data: { id: string; accessKey: string } }).data;
  };
  const { accessKey: admin } = await make('admin');
  const reads = async (token: string) =>
    Promise.all(
      [1, 2, 3, 4].map(async () => (await request('GET', '/api/restaurants?fields=name', token)).status),
    );
  for (let i = 0; i < 5; i++) {
    const { id, accessKey } = await make(`token ${i}`, admin);
    expect(await reads(accessKey)).toEqual([200, 200, 200, 200]);
    expect((await request('DELETE', `/_varve/tokens/${id}`, admin)).status).toBe(204);
    expect(await reads(accessKey)).toEqual([401, 401, 401, 401]);
  }
});

it.each(['leading', 'reading'] as const)(
  'continues when the %s worker is stopped: it is killed before the next write is acknowledged',
  LONG,
  async (which) => {
    const server = await startWorkers();
    const pairs = startWorkerPairs(server.url, CLIENTS);
    await pairs.reached(100);
    const stopped = pids(server)[which];
    const before = pairs.written.length;
    const since = performance.now();
    process.kill(stopped, 'SIGSTOP');
    await pairs.reached(before + CLIENTS + 1);
    console.info(
      `writes continue ${Math.round(performance.now() - since)} ms after SIGSTOP of the ${which} one`,
    );
    expect(isRunning(stopped)).toBe(false);
    await pairs.reached(before + 200);
    if (which === 'reading') await inRotation(server, 2);
    await stopPairs(server, pairs);
    expect(pids(server)[which]).not.toBe(stopped);
  },
);

it('hands out connections again after its workers could open no more files', LONG, async () => {
  const server = await startWorkers();
  const all = workers(server);
  for (const pid of all) limitFiles(pid, 4);
  const { hostname, port } = new URL(server.url);
  let ended = 0;
  const idle = Array.from({ length: 40 }, () => connect(Number(port), hostname));
  for (const connection of idle) connection.on('error', () => {}).on('close', () => ended++);
  // No worker can accept most of these connections.
  while (ended < 20) await delay(PAUSE_MS);
  for (const connection of idle) connection.destroy();
  for (const pid of all) limitFiles(pid, 500);
  for (let i = 0; i < 6; i++)
    expect(await ask(`${server.url}/_health`, false)).toMatchObject({ status: 204 });
});

it.each(['leading', 'reading'] as const)(
  'replaces a %s worker that is killed, several times',
  LONG,
  async (which) => {
    const server = await startWorkers();
    const pairs = startWorkerPairs(server.url, CLIENTS);
    for (let round = 1; round <= 3; round++) {
      await pairs.reached(100 * round);
      const killed = pids(server)[which];
      process.kill(killed, 'SIGKILL');
      while (pids(server)[which] === killed) await delay(5);
    }
    await pairs.reached(400);
    await stopPairs(server, pairs);
    expect(workers(server)).toHaveLength(2);
  },
);

it('replaces all workers in a rebuild and a rollback, and no request fails', LONG, async () => {
  const server = await startWorkers();
  const pairs = startWorkerPairs(server.url, CLIENTS, PAUSE_MS);
  await pairs.reached(100);
  const before = pids(server);
  expect((await runVarve(['rebuild', '--graph', '--data', server.data])).stdout).toContain(
    'generation 2 is live',
  );
  await inRotation(server, 2);
  const between = pids(server);
  expect(between.leading).not.toBe(before.leading);
  expect(between.reading).not.toBe(before.reading);
  expect((await runVarve(['rollback', '--data', server.data])).stdout).toContain('generation 1 is live');
  await inRotation(server, 3);
  expect(await generation(server)).toBe(1);
  await pairs.reached(pairs.written.length + 100);
  await stopPairs(server, pairs);
  expectNoFailures(server, pairs);
  while (workers(server).length > 2) await delay(5);
  expect(existsSync(join(server.data, 'workers', `1-${before.reading}`))).toBe(false);
});
