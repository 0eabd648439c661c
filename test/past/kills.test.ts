import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { PAST_ARGUMENT } from '../../services/supervisor/past-child.ts';
import { createApiClient } from '../support/api-client.ts';
import { startOnCorpus } from '../support/loaded-corpus.ts';
import { asOf, readWhole } from '../support/past-requests.ts';
import { areThreadsStopped, argumentsOf, childrenOf, isRunning } from '../support/processes.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { mountSmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A past lives in a process of its own. It must not outlive its server, and its end must not disturb the present. */
const LONG = { ...takesMinutes('processes of pasts, killed and paused'), timeout: 300_000 };
const LIST = '/api/restaurants?sort=name';

/** Returns the processes that serve pasts for a server. */
function pastsOf(server: RunningServer): readonly number[] {
  const children = childrenOf(server.worker() ?? 0);
  return children.filter((pid) => argumentsOf(pid).includes(PAST_ARGUMENT));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(5);
}

/** Starts a server whose position 100 is open. Returns the process that serves it, and its answer. */
async function startWithPast() {
  const server = await startOnCorpus();
  onTestFinished(() => server.dispose());
  const truth = await readWhole(server.url, asOf(LIST, 100n));
  expect(truth.status).toBe(200);
  const [past = 0] = pastsOf(server);
  expect(isRunning(past)).toBe(true);
  return { server, past, truth };
}

const leftIn = (data: string) => readdirSync(join(data, 'past')).filter((name) => !name.endsWith('.zst'));

it('opens a moment again after its process was killed, and answers no request wrongly', LONG, async () => {
  const { server, truth } = await startWithPast();
  const present = await readWhole(server.url, LIST);
  let isOver = false;
  const seen = { past: 0, present: 0 };
  const reader = async (path: string, expected: typeof truth, kind: keyof typeof seen) => {
    while (!isOver) {
      // Repeats a 503: every other answer must be right.
      expect(await readWhole(server.url, path)).toEqual(expected);
      seen[kind]++;
    }
  };
  const readers = Promise.all([
    reader(asOf(LIST, 100n), truth, 'past'),
    reader(asOf(LIST, 100n), truth, 'past'),
    reader(LIST, present, 'present'),
  ]);
  for (let kills = 0; kills < 6; kills++) {
    const before = seen.past;
    await until(() => pastsOf(server).length > 0);
    // While it opens, and while it answers.
    if (kills % 2 === 0) await until(() => seen.past > before + 5);
    const [past = 0] = pastsOf(server);
    if (isRunning(past)) process.kill(past, 'SIGKILL');
    await until(() => !isRunning(past));
  }
  const [past, now] = [seen.past, seen.present];
  await until(() => seen.past > past && seen.present > now);
  isOver = true;
  await readers;
  expect(pastsOf(server)).toHaveLength(1);
  expect(leftIn(server.data)).toHaveLength(1);
});

it('replaces a process that a signal has stopped', LONG, async () => {
  const { server, past, truth } = await startWithPast();
  process.kill(past, 'SIGSTOP');
  await until(() => areThreadsStopped(past));
  expect(await readWhole(server.url, asOf(LIST, 100n))).toEqual(truth);
  expect(isRunning(past)).toBe(false);
  // Another one, stopped while it opens.
  const opening = readWhole(server.url, asOf(LIST, 101n));
  await until(() => pastsOf(server).some((pid) => existsSync(join(server.data, `past/world-${pid}`))));
  const [next = 0] = pastsOf(server);
  process.kill(next, 'SIGSTOP');
  expect(await opening).toMatchObject({ status: 200 });
});

it('ends with its server, however that ends', LONG, async () => {
  for (const end of ['worker', 'supervisor', 'both', 'stop', 'stop while paused'] as const) {
    const { server, past } = await startWithPast();
    const worker = server.worker() ?? 0;
    if (end === 'stop while paused') process.kill(past, 'SIGSTOP');
    if (end === 'worker' || end === 'both') process.kill(worker, 'SIGKILL');
    if (end === 'supervisor' || end === 'both') process.kill(server.supervisor, 'SIGKILL');
    if (end.startsWith('stop')) expect(await server.stop()).toMatchObject({ code: 0 });
    await until(() => !isRunning(past));
    // The process has removed its files.
    expect(existsSync(join(server.data, `past/world-${past}`))).toBe(false);
    if (end.startsWith('stop')) expect(leftIn(server.data)).toEqual([]);
  }
});

it('survives a pause of its server, and a start removes what a killed server has left', LONG, async () => {
  const { server, past, truth } = await startWithPast();
  server.signal('SIGSTOP');
  await until(() => areThreadsStopped(server.worker() ?? 0));
  server.signal('SIGCONT');
  expect(await readWhole(server.url, asOf(LIST, 100n))).toEqual(truth);
  expect(pastsOf(server)).toEqual([past]);
  // Paused, it cannot end with its server.
  process.kill(past, 'SIGSTOP');
  await until(() => areThreadsStopped(past));
  // The paused process keeps the output of the server open, so the server's end is seen in another way.
  const ended = [server.supervisor, server.worker() ?? 0];
  for (const pid of ended) process.kill(pid, 'SIGKILL');
  await until(() => !ended.some(isRunning));
  expect(isRunning(past)).toBe(true);
  // A folder of a process that has ended, whose number another process has now.
  mkdirSync(join(server.data, `past/world-${process.pid}`));
  const next = await startServer({ data: server.data });
  onTestFinished(() => next.dispose());
  await until(() => !isRunning(past));
  expect(leftIn(server.data)).toEqual([]);
  expect(await readWhole(next.url, asOf(LIST, 100n))).toEqual(truth);
});

const whyNot = whyNoSmallDisk();
const DISK = whyNot === undefined ? LONG : { ...LONG, skip: true, meta: { skipReason: whyNot } };

it(
  'is a 503 while the disk is full, which leaves nothing behind, and the present is answered',
  DISK,
  async () => {
    const disk = mountSmallDisk(64);
    if (disk === undefined) throw new Error('the disk could be mounted before');
    onTestFinished(() => disk.remove());
    const server = await startServer({ data: join(disk.path, 'data') });
    onTestFinished(() => server.dispose());
    const { data } = createApiClient(server.url);
    for (let n = 0; n < 20; n++)
      await data('POST', '/api/tags', { data: { key: `t${n}`, name: `tag ${n}` } });
    const path = '/api/tags?sort=name';
    const { headers } = await fetch(server.url + path);
    expect(headers.get('content-type')).toContain('json');
    const end = Number(
      (await data<readonly { position: string }[]>('GET', '/_varve/events?limit=1'))[0]?.position,
    );
    const truth = await readWhole(server.url, asOf(path, BigInt(end)));
    expect(truth.status).toBe(200);
    // Less than the check before a process needs, and less than the process needs.
    for (const free of [64, 512, 700, 1_024, 1_500]) {
      disk.fill(free * 1024);
      const answer = await fetch(server.url + asOf(path, BigInt(end - 3)));
      if (free === 64) expect(answer.status).toBe(503);
      expect([200, 503]).toContain(answer.status);
      await answer.text();
      // Only a process that runs has a folder.
      await until(() => leftIn(server.data).every((name) => isRunning(Number(name.slice('world-'.length)))));
      expect((await fetch(server.url + path)).status).toBe(200);
      disk.empty();
    }
    expect(await readWhole(server.url, asOf(path, BigInt(end)))).toEqual(truth);
  },
);
