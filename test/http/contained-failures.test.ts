import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { askOnce } from '../support/ask-once.ts';
import { PLANTED, PLANTED_LATE } from '../support/plant-failures.ts';
import type { RunningServer } from '../support/server.ts';
import { startWorkers } from '../support/several-workers.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const PLANT = fileURLToPath(new URL('../support/plant-failures.ts', import.meta.url));
const CONTAINED = /no code handled a failure of this request/g;

type Line = {
  readonly msg: string;
  readonly err?: { readonly message: string };
  readonly [name: string]: unknown;
};

/** Variables of a server with bugs. A crash of it does not fail the test run. */
const WITH_BUGS = { NODE_OPTIONS: `--import=${PLANT}`, CRASH_REPORTS: '' };

function startWithBugs(): Promise<RunningServer> {
  return startForTest({ env: WITH_BUGS, arguments: ['--log-format', 'json'] });
}

/** Waits until the server has contained this many failures. Returns their log lines. */
async function contained(server: RunningServer, count: number): Promise<readonly Line[]> {
  while ((server.output().match(CONTAINED)?.length ?? 0) < count) await delay(5);
  const lines = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg.search(CONTAINED) === 0);
}

async function restarted(server: RunningServer, killed: number | undefined): Promise<void> {
  for (let pid = server.worker(); pid === undefined || pid === killed; pid = server.worker()) await delay(5);
}

it('a failure that no code handles ends the read with 500, and names it', async () => {
  const server = await startWithBugs();
  const worker = server.worker();
  const path = `/api/tags?filters[name]=${PLANTED}`;
  const others = Array.from({ length: 20 }, () => askOnce(`${server.url}/api/tags`));
  const failed = await askOnce(server.url + path);
  expect(failed.status).toBe(500);
  expect(JSON.parse(failed.text)).toEqual({
    data: null,
    error: { status: 500, name: 'InternalServerError', message: 'Internal Server Error' },
  });
  for (const { status } of await Promise.all(others)) expect(status).toBe(200);
  const [line] = await contained(server, 1);
  expect(line).toMatchObject({
    level: 50,
    method: 'GET',
    url: path,
    status: 500,
    err: { message: 'planted' },
  });
  expect(await askOnce(`${server.url}/metrics`)).toMatchObject({
    text: expect.stringMatching(/^varve_contained_failures_total 1$/m),
  });
  expect(server.worker()).toBe(worker);
});

it(
  'a failure after the answer changes nothing, and the log names the request',
  takesMinutes('contained failures of writes and workers'),
  async () => {
    const server = await startWithBugs();
    const worker = server.worker();
    const path = `/api/tags?filters[name]=${PLANTED_LATE}`;
    expect(await askOnce(server.url + path)).toMatchObject({ status: 200 });
    const [line] = await contained(server, 1);
    expect(line).toMatchObject({ url: path, status: 200, err: { message: 'planted late' } });
    expect(server.worker()).toBe(worker);
  },
);

it(
  'a write with such a failure is carried out and acknowledged',
  takesMinutes('contained failures of writes and workers'),
  async () => {
    const server = await startWithBugs();
    const worker = server.worker();
    const body = JSON.stringify({ data: { key: 't', name: PLANTED } });
    expect(await askOnce(`${server.url}/api/tags`, 'POST', body)).toMatchObject({ status: 201 });
    const [line] = await contained(server, 1);
    expect(line).toMatchObject({ method: 'POST', url: '/api/tags', status: null });
    expect(server.worker()).toBe(worker);
  },
);

it(
  'the workers that only read contain failures too',
  takesMinutes('contained failures of writes and workers'),
  async () => {
    const server = await startWorkers(['--log-format', 'json'], { env: WITH_BUGS });
    const path = `${server.url}/api/tags?filters[name]=${PLANTED}`;
    // Connections go to the workers in turn.
    for (const _ of [1, 2, 3, 4]) expect(await askOnce(path)).toMatchObject({ status: 500 });
    const lines = await contained(server, 4);
    expect(new Set(lines.map(({ pid }) => pid)).size).toBe(2);
    expect(server.output()).not.toMatch(/worker crashed/);
  },
);

it(
  'a failure of other work, and an exception, end the worker, and another one answers',
  takesMinutes('contained failures of writes and workers'),
  async () => {
    const server = await startWithBugs();
    for (const [signal, says] of [
      ['SIGUSR2', 'planted outside'],
      ['SIGURG', 'planted exception'],
    ] as const) {
      const worker = server.worker() ?? 0;
      process.kill(worker, signal);
      await restarted(server, worker);
      expect(await askOnce(`${server.url}/api/tags`)).toMatchObject({ status: 200 });
      expect(server.output()).toContain(says);
    }
    expect(server.output().match(/worker crashed/g)).toHaveLength(2);
    expect(server.output()).toContain('"code":1,"signal":null');
  },
);
