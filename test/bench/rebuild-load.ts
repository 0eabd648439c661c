import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { median } from '../conformance/bench/common.mjs';
import { get, type LoadResult, type Traffic } from './measure-load.ts';
import { startProcess } from './server-process.ts';
import { startLoad } from './start-load.ts';

/**
 * `node test/bench/rebuild-load.ts --data DIR [--read-index URL]`: measures the latency of a query on a server with a copy of a loaded
 * data directory. Measurements without a rebuild, in each phase of `varve rebuild --graph`, and in a rollback alternate. It also
 * measures the server's memory and the longest delay of its event loop. `--resume` kills a rebuild half-way and continues it.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory with the benchmark log; it is copied')
  .option('--read-index <url>', 'Elasticsearch; default: the index inside the server')
  .option('--connections <n>', 'connections of the load', '16')
  .option('--seconds <n>', 'seconds without a rebuild, before each and after the last', '15')
  .option('--repetitions <n>', 'rebuilds', '3')
  .option('--rate <n>', 'events a second of the rebuild at most (default: as the server allows)')
  .option('--no-resume', 'leave out the rebuild that is killed')
  .parse()
  .opts<{
    data: string;
    readIndex?: string;
    connections: string;
    seconds: string;
    repetitions: string;
    rate?: string;
    resume: boolean;
  }>();

/** Measured phases. `whole` is a rebuild from its start until a moment after the new generation serves. */
const PHASES = ['quiet', 'replaying', 'indexing', 'verifying', 'taking over', 'whole', 'rollback'] as const;
type Phase = (typeof PHASES)[number];
type Measured = LoadResult & { readonly heldUpMs: number };

const WARM_UP_SECONDS = 8;
/** A rebuild is measured for so long after its end: queries of a new generation begin with cold caches. */
const AFTERWARDS_MS = 3_000;
/** The medians omit phases that were shorter than this; they are only printed. */
const SHORTEST_MS = 1_000;

const root = resolve(import.meta.dirname, '../..');
const VARVE = join(root, 'services/cli/varve.ts');
const scratch = mkdtempSync(join(tmpdir(), 'varve-rebuild-load-'));
const data = join(scratch, 'data');
cpSync(options.data, data, { recursive: true });
const where = options.readIndex === undefined ? [] : ['--read-index', options.readIndex];
const server = await startProcess(
  [
    ...['--min-semi-space-size=32', VARVE, 'serve', '--data', data, '--port', '0'],
    ...['--content-types', join(root, 'test/conformance/schema'), ...where],
  ],
  root,
  '/_health',
);
const traffic: Traffic = {
  base: server.base,
  request: (i) =>
    get(
      `/api/restaurants?filters[stars][$gte]=${i % 5}&filters[name][$contains]=${'abcdefgh'[i % 8]}&sort=name&pagination[page]=${1 + (i % 40)}`,
    ),
};
const measured = new Map<Phase, Measured[]>(PHASES.map((phase) => [phase, []]));
const load = startLoad(traffic, Number(options.connections));
await delay(WARM_UP_SECONDS * 1_000);
for (let round = 1; round <= Number(options.repetitions); round++) {
  await measureQuiet();
  await measureRebuild();
  await measureQuiet();
  await measureRollback();
}
await load.stop();
showMedians();
if (options.resume) await resumeHalfWay();
await server.stop();
rmSync(scratch, { recursive: true });

async function measureQuiet(): Promise<void> {
  const from = performance.now();
  await heldUp();
  await delay(Number(options.seconds) * 1_000);
  note('quiet', from, await heldUp());
}

async function measureRebuild(): Promise<void> {
  const begun = performance.now();
  const borders: { readonly phase: Phase; readonly at: number }[] = [];
  let worst = 0;
  const border = async (phase: Phase | undefined, at = performance.now()) => {
    const longest = await heldUp();
    worst = Math.max(worst, longest);
    const before = borders.at(-1);
    if (before !== undefined) note(before.phase, before.at, longest, at);
    if (phase !== undefined) borders.push({ phase, at });
  };
  await heldUp();
  const rebuild = varve('rebuild', '--graph', '--json', ...rate());
  const memory = watchMemory();
  for await (const line of createInterface(rebuild.child.stdout)) {
    const { phase } = JSON.parse(line) as { readonly phase?: Phase };
    if (phase !== undefined && PHASES.includes(phase) && phase !== borders.at(-1)?.phase) await border(phase);
  }
  await rebuild.ended;
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  await delay(AFTERWARDS_MS);
  await border(undefined);
  note('whole', begun, worst);
  console.log(`rebuild: ${seconds} s, most memory of the server ${memory.most()} MiB`);
}

async function measureRollback(): Promise<void> {
  await heldUp();
  const from = performance.now();
  await varve('rollback').ended;
  console.log(`rollback: ${((performance.now() - from) / 1_000).toFixed(2)} s with the command's start`);
  await delay(AFTERWARDS_MS);
  note('rollback', from, await heldUp());
}

/** Returns the longest delay of the server's event loop since the last call, in milliseconds. Each read of `/metrics` resets it. */
async function heldUp(): Promise<number> {
  const text = await (await fetch(`${server.base}/metrics`)).text();
  const found = /^nodejs_eventloop_lag_max_seconds(?:\{.*\})? (\S+)$/m.exec(text)?.[1];
  if (found === undefined) throw new Error(`no event loop delay in /metrics: ${text.slice(0, 200)}`);
  return Number(found) * 1_000;
}

function note(phase: Phase, from: number, heldUpMs: number, to = performance.now()): void {
  const result = { ...load.between(from, to), heldUpMs };
  // A short phase has too few requests for a 99th percentile.
  if (to - from >= SHORTEST_MS) measured.get(phase)?.push(result);
  show(`${phase} (${((to - from) / 1_000).toFixed(1)} s)`, result);
}

function show(what: string, { rate: perSecond, p50, p99, failed, heldUpMs }: Measured): void {
  const figures = `${Math.round(perSecond)}/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${failed} failed`;
  const memory = `server ${Math.round(server.residentMiB())} MiB`;
  console.log(`${what}: ${figures}, held up ${heldUpMs.toFixed(0)} ms at most, ${memory}`);
}

/** Prints the medians of each phase next to those without a rebuild. */
function showMedians(): void {
  const p99 = (phase: Phase) => (measured.get(phase) ?? []).map((each) => each.p99);
  const quiet = median(p99('quiet'));
  console.log(
    `p99 without a rebuild: ${p99('quiet')
      .map((each) => each.toFixed(1))
      .join(', ')} ms`,
  );
  for (const phase of PHASES) {
    const times = p99(phase);
    if (times.length === 0) continue;
    const middle = median(times);
    console.log(
      `${phase}: median p99 ${middle.toFixed(1)} ms, ${(middle / quiet).toFixed(2)} of the quiet one`,
    );
  }
}

function rate(): readonly string[] {
  return options.rate === undefined ? [] : ['--max-rate', options.rate];
}

function varve(...args: readonly string[]) {
  const child = spawn(process.execPath, [VARVE, ...args, '--data', data, ...where], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (text: Buffer) => {
    output += text;
  });
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0 && code !== null) throw new Error(`varve ${args.join(' ')} ended with ${code}: ${output}`);
  });
  return { child, ended, output: () => output };
}

function watchMemory() {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, Math.round(server.residentMiB()));
  }, 200);
  return {
    most() {
      clearInterval(timer);
      return most;
    },
  };
}

/** Kills a rebuild after half of the log, and starts it again. The second one first reports where it continues. */
async function resumeHalfWay(): Promise<void> {
  const first = varve('rebuild', '--graph', '--json');
  while (!/"replaying".*"done":[5-9]\d{4},/.test(first.output())) await delay(20);
  first.child.kill('SIGKILL');
  await first.ended;
  const again = performance.now();
  const second = varve('rebuild', '--graph', '--json');
  while (!second.output().includes('replaying')) await delay(5);
  console.log(
    `killed; ${(performance.now() - again).toFixed(0)} ms after the next start: ${second.output().split('\n')[0]}`,
  );
  await second.ended;
  console.log(`and done ${((performance.now() - again) / 1000).toFixed(1)} s after that start`);
}
