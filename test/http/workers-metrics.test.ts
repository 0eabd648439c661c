import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ask } from '../support/hand-over-load.ts';
import { readSamples } from '../support/metrics-client.ts';
import { runVarve } from '../support/run-varve.ts';
import type { RunningServer } from '../support/server.ts';
import { inRotation, pids, startWorkers } from '../support/several-workers.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const READS = 40;
const LISTS = 'varve_http_request_duration_seconds_count{method="GET",route="/api/restaurants",status="200"}';

type Counts = ReadonlyMap<string, number>;

/** Reads on several connections, so in all workers. */
async function read({ url }: RunningServer): Promise<void> {
  for (let i = 0; i < READS; i++) expect((await ask(`${url}/api/restaurants`, false)).status).toBe(200);
}

/** Values of all counters and histograms. */
async function counts({ url }: RunningServer): Promise<Counts> {
  const { status, text } = await ask(`${url}/metrics`, false);
  expect(status).toBe(200);
  const counting = new Set(
    [...text.matchAll(/^# TYPE (\S+) (?:counter|histogram)$/gm)].map(([, name]) => name),
  );
  const isCounting = (name: string) =>
    counting.has(name) || counting.has(name.replace(/_(bucket|sum|count)$/, ''));
  const samples = readSamples(text).filter(({ name }) => isCounting(name));
  return new Map(samples.map(({ name, labels, value }) => [keyOf(name, labels), value]));
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const shown = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${shown.sort().join()}}`;
}

function fallen(before: Counts, after: Counts): readonly string[] {
  return [...before].flatMap(([key, value]) => {
    const now = after.get(key);
    return now !== undefined && now >= value ? [] : [`${key}: ${value}, then ${now}`];
  });
}

it('counts never fall when a worker is killed or all are replaced', {
  ...takesMinutes('metrics of workers that are lost'),
  timeout: 300_000,
}, async () => {
  const server = await startWorkers(['--rate-limit', '1000000']);
  const lost = [
    ['reading worker', async () => kill(server, 'reading')],
    ['leading worker', async () => kill(server, 'leading')],
    [
      'replaced workers',
      async () => {
        const { code, stderr } = await runVarve(['rebuild', '--graph', '--data', server.data]);
        expect(code, stderr).toBe(0);
      },
    ],
  ] as const;
  let before = await counts(server);
  const reads = before.get(LISTS) ?? 0;
  for (const [i, [which, lose]] of lost.entries()) {
    await read(server);
    const held = await counts(server);
    expect(held.get(LISTS)).toBe(reads + READS * (i + 1));
    expect(fallen(before, held)).toEqual([]);
    await lose();
    before = await counts(server);
    expect(fallen(held, before), which).toEqual([]);
  }
  // The reading worker was replaced twice.
  await inRotation(server, 3);
  expect(fallen(before, await counts(server))).toEqual([]);
});

/** Kills a worker. Resolves when another one has its place. */
async function kill(server: RunningServer, which: 'leading' | 'reading'): Promise<void> {
  const { [which]: killed } = pids(server);
  process.kill(killed, 'SIGKILL');
  while (pids(server)[which] === killed) await delay(5);
}
