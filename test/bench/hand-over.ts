import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { get, type Traffic } from './measure-load.ts';
import { startProcess } from './server-process.ts';
import { type Span, startLoad, type TimedLoad } from './start-load.ts';

/**
 * `node test/bench/hand-over.ts --data DIR`: measures rebuilds of a server on a copy of a loaded data directory, under constant reads and
 * some writes. It prints the duration, the failed requests, and the memory of all processes before and after. It prints latencies before
 * the rebuild, in each phase, in the second of the hand-over, and later than ten seconds after it. Then it repeats this with a steady
 * rate of requests: the slowest of them show whether the builder's writes to the disk disturb the server.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory with the benchmark log; it is copied')
  .option('--connections <n>', 'connections of the load', '16')
  .option('--writes <n>', 'writes a second', '10')
  .option('--seconds <n>', 'seconds before each rebuild and after it', '15')
  .option('--repetitions <n>', 'rebuilds', '3')
  .option('--rate <n>', 'requests a second of the steady load', '2000')
  .option('--search', 'every tenth request searches by words')
  .option('--steady <n>', 'rebuilds under the steady load', '5')
  .parse()
  .opts<
    Readonly<
      Record<'data' | 'connections' | 'writes' | 'seconds' | 'repetitions' | 'rate' | 'steady', string>
    > & { readonly search?: boolean }
  >();

const SETTLED_MS = 10_000;
const HAND_OVER_MS = 1_000;

const root = resolve(import.meta.dirname, '../..');
const VARVE = join(root, 'services/cli/varve.ts');
const scratch = mkdtempSync(join(tmpdir(), 'varve-hand-over-'));
const data = join(scratch, 'data');
cpSync(options.data, data, { recursive: true });
const server = await startProcess(
  [
    ...['--min-semi-space-size=32', VARVE, 'serve', '--data', data, '--port', '0'],
    ...['--content-types', join(root, 'test/conformance/schema')],
  ],
  root,
  '/_health',
);
const traffic: Traffic = {
  base: server.base,
  request: (i) =>
    get(
      options.search === true && i % 10 === 0
        ? `/api/restaurants?search=${'abcdefgh'[(i / 10) % 8]}&filters[stars][$gte]=${i % 5}&pagination[page]=${1 + (i % 40)}`
        : `/api/restaurants?filters[stars][$gte]=${i % 5}&filters[name][$contains]=${'abcdefgh'[i % 8]}&sort=name&pagination[page]=${1 + (i % 40)}`,
    ),
};
const writes = { answered: 0, failed: 0, slowestMs: 0 };
const writing = setInterval(() => void write(), 1_000 / Number(options.writes));
const load = startLoad(traffic, Number(options.connections));
await delay(Number(options.seconds) * 1_000);
for (let round = 1; round <= Number(options.repetitions); round++) await measureRebuild(round);
await load.stop();
const steady = startLoad(traffic, Number(options.connections), Number(options.rate));
await delay(Number(options.seconds) * 1_000);
for (let round = 1; round <= Number(options.steady); round++) await measureSteady(round);
await steady.stop();
clearInterval(writing);
console.log(
  `writes: ${writes.answered}, ${writes.failed} failed, slowest ${Math.round(writes.slowestMs)} ms`,
);
await server.stop();
rmSync(scratch, { recursive: true });

async function measureRebuild(round: number): Promise<void> {
  const quietFrom = performance.now();
  await delay(Number(options.seconds) * 1_000);
  const memory = server.residentMiB();
  const begun = performance.now();
  const { borders, ended, exitCode } = await rebuild();
  await delay(SETTLED_MS);
  const settled = performance.now();
  await delay(Number(options.seconds) * 1_000);
  const last = performance.now();
  const { from, to } = handOverOf(borders, ended);
  show(`${round}: before`, load.between(quietFrom, begun));
  console.log(`${round}: whole ${((ended - begun) / 1_000).toFixed(1)} s, exit code ${exitCode}`);
  for (const { phase, at, to } of phasesOf(borders, ended))
    show(`${round}: ${phase} (${((to - at) / 1_000).toFixed(1)} s)`, load.between(at, to));
  show(`${round}: second of the hand-over`, load.between(from, to));
  show(`${round}: ten seconds after`, load.between(to, settled));
  show(`${round}: later`, load.between(settled, last));
  console.log(
    `${round}: memory ${Math.round(memory)} MiB before, ${Math.round(server.residentMiB())} MiB after`,
  );
}

async function measureSteady(round: number): Promise<void> {
  const quietFrom = performance.now();
  await delay(Number(options.seconds) * 1_000);
  const begun = performance.now();
  const { borders, ended, exitCode } = await rebuild();
  await delay(SETTLED_MS);
  show(`steady ${round}: before`, steady.between(quietFrom, begun));
  const handOver = handOverOf(borders, ended);
  console.log(`steady ${round}: whole ${((ended - begun) / 1_000).toFixed(1)} s, exit code ${exitCode}`);
  for (const { phase, at, to } of phasesOf(borders, ended))
    show(`steady ${round}: ${phase}`, steady.between(at, to));
  show(`steady ${round}: rebuild but for the hand-over`, steady.between(begun, ended, handOver));
  show(`steady ${round}: second of the hand-over`, steady.between(handOver.from, handOver.to));
}

type Border = { readonly phase: string; readonly at: number };

async function rebuild(): Promise<{
  readonly borders: readonly Border[];
  readonly ended: number;
  readonly exitCode: number | null;
}> {
  const borders: Border[] = [];
  const child = spawn(process.execPath, [VARVE, 'rebuild', '--graph', '--json', '--data', data], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { phase } = JSON.parse(line) as { readonly phase: string };
    if (phase !== borders.at(-1)?.phase) borders.push({ phase, at: performance.now() });
  }
  if (child.exitCode === null) await once(child, 'exit');
  return { borders, ended: performance.now(), exitCode: child.exitCode };
}

function phasesOf(borders: readonly Border[], ended: number): readonly (Border & { readonly to: number })[] {
  return borders
    .map((border, i) => ({ ...border, to: borders[i + 1]?.at ?? ended }))
    .filter(({ at, to }) => to > at);
}

function handOverOf(borders: readonly Border[], ended: number): Span {
  const live = borders.find(({ phase }) => phase === 'done')?.at ?? ended;
  return { from: live - HAND_OVER_MS / 2, to: live + HAND_OVER_MS / 2 };
}

async function write(): Promise<void> {
  const started = performance.now();
  const name = `hand-over ${started}`;
  const answer = await fetch(`${server.base}/api/restaurants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key: name, name } }),
  }).catch(() => undefined);
  if (answer?.status === 201) writes.answered++;
  else writes.failed++;
  writes.slowestMs = Math.max(writes.slowestMs, performance.now() - started);
}

function show(what: string, { rate, p50, p99, p999, slowest, failed }: TimedLoad): void {
  const slow = `p99.9 ${p999.toFixed(2)} ms, slowest ${Math.round(slowest)} ms`;
  const times = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${slow}`;
  console.log(`${what}: ${Math.round(rate)}/s, ${times}, ${failed} failed`);
}
