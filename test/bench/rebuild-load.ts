import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { get, type LoadResult, measureLoad, type Traffic } from './measure-load.ts';
import { startProcess } from './server-process.ts';

/**
 * `node test/bench/rebuild-load.ts --data DIR`: latency of a query before, during and after `varve rebuild --graph` on a server
 * over a copy of a loaded data directory, its memory, how long a rollback takes, and a rebuild that is killed half-way and goes
 * on.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory with the benchmark log; it is copied')
  .option('--connections <n>', 'connections of the load', '16')
  .option('--seconds <n>', 'seconds before and after', '10')
  .option('--rate <n>', 'events a second of the rebuild at most (default: as the server allows)')
  .parse()
  .opts<{ data: string; connections: string; seconds: string; rate?: string }>();

const root = resolve(import.meta.dirname, '../..');
const VARVE = join(root, 'services/cli/varve.ts');
const scratch = mkdtempSync(join(tmpdir(), 'varve-rebuild-load-'));
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
      `/api/restaurants?filters[stars][$gte]=${i % 5}&filters[name][$contains]=${'abcdefgh'[i % 8]}&sort=name&pagination[page]=${1 + (i % 40)}`,
    ),
};
const load = (seconds: number) => measureLoad(traffic, Number(options.connections), seconds);

await load(5);
show('before', await load(Number(options.seconds)));
const started = performance.now();
const { ended, most } = watchMemory(varve('rebuild', '--graph', ...rate()));
const during: LoadResult[] = [];
let isEnded = false;
void ended.then(() => {
  isEnded = true;
});
while (!isEnded) during.push(await load(4));
const lines = await ended;
console.log(
  `rebuild: ${((performance.now() - started) / 1000).toFixed(1)} s, most memory of the server ${most()} MiB`,
);
console.log(lines.filter((line) => line.includes('replaying')).at(-1));
for (const each of during) show('during', each);
show('after', await load(Number(options.seconds)));
const rolled = performance.now();
await varve('rollback').ended;
console.log(`rollback: ${((performance.now() - rolled) / 1000).toFixed(2)} s with the command's start`);
await resumeHalfWay();
await server.stop();
rmSync(scratch, { recursive: true });

function rate(): readonly string[] {
  return options.rate === undefined ? [] : ['--max-rate', options.rate];
}

function show(what: string, { rate: perSecond, p50, p99, failed }: LoadResult): void {
  const figures = `${Math.round(perSecond)}/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${failed} failed`;
  console.log(`${what}: ${figures}, server ${Math.round(server.residentMiB())} MiB`);
}

function varve(...args: readonly string[]) {
  const child = spawn(process.execPath, [VARVE, ...args, '--data', data], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (text: Buffer) => {
    output += text;
  });
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0 && code !== null) throw new Error(`varve ${args.join(' ')} ended with ${code}: ${output}`);
    return output.trim().split('\n');
  });
  return { child, ended, output: () => output };
}

function watchMemory({ ended }: ReturnType<typeof varve>) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, Math.round(server.residentMiB()));
  }, 200);
  return { ended: ended.finally(() => clearInterval(timer)), most: () => most };
}

/** Killed when half of the log is replayed, and started again: the first thing it reports is where it goes on. */
async function resumeHalfWay(): Promise<void> {
  const first = varve('rebuild', '--graph');
  while (!/replaying: [5-9]\d{4} of/.test(first.output())) await delay(20);
  first.child.kill('SIGKILL');
  await first.ended;
  const again = performance.now();
  const second = varve('rebuild', '--graph');
  while (!second.output().includes('replaying')) await delay(5);
  console.log(
    `killed; ${(performance.now() - again).toFixed(0)} ms after the next start: ${second.output().split('\n')[0]}`,
  );
  await second.ended;
  console.log(`and done ${((performance.now() - again) / 1000).toFixed(1)} s after that start`);
}
