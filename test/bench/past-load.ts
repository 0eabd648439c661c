import { readdirSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { createRandom } from '../support/naive-random.ts';
import { makeLongLog } from './make-long-log.ts';
import { startVarve } from './start-varve.ts';

/**
 * `node test/bench/past-load.ts --data DIR`: makes a log of 80,000 documents and 1,000,000 events in an empty directory, or takes the one that
 * is there. Then measures reads with `asOf` over HTTP: the first answer of random moments, later ones on one connection, and the size of
 * `past/`. The aims are 7 s on average and 12 s at most; then 2 ms (p50) and 20 ms (p99); a quarter of the log.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory')
  .option('--restaurants <n>', 'restaurants', '20000')
  .option('--reviews <n>', 'reviews', '60000')
  .option('--events <n>', 'events of the log', '1000000')
  .option('--moments <n>', 'random moments', '8')
  .option('--reads <n>', 'reads of each moment', '1000')
  .option('--seed <n>', 'seed of the edits and the moments', '1')
  .parse()
  .opts<Record<'data' | 'restaurants' | 'reviews' | 'events' | 'moments' | 'reads' | 'seed', string>>();

const READS = [
  '/api/restaurants?sort=name&pagination[pageSize]=10',
  '/api/restaurants?filters[description][$contains]=1&pagination[pageSize]=5',
  '/api/restaurants?populate=category&pagination[page]=7',
  '/api/restaurants?status=draft&sort=id:desc',
  '/api/reviews?filters[score][$gte]=3&pagination[pageSize]=10',
];

const { data } = options;
const random = createRandom(Number(options.seed));
const end = await makeLongLog(data, options, random);
const server = await startVarve({ data, until: '/health/ready' });
try {
  await measure(server.base, end);
} finally {
  await server.stop();
}

async function measure(base: string, end: number): Promise<void> {
  const firsts: number[] = [];
  const later: number[] = [];
  for (let n = 0; n < Number(options.moments); n++) {
    const asOf = random.between(1, end);
    firsts.push(await untilAnswered(`${base}${READS[0]}&asOf=${asOf}`));
    for (let read = 0; read < Number(options.reads); read++) {
      const began = performance.now();
      await (await fetch(`${base}${READS[read % READS.length]}&asOf=${asOf}`)).text();
      later.push(performance.now() - began);
    }
    console.log(`as of ${asOf}: first answer after ${((firsts.at(-1) ?? 0) / 1000).toFixed(1)} s`);
  }
  const mean = firsts.reduce((sum, each) => sum + each, 0) / firsts.length / 1000;
  const worst = Math.max(...firsts) / 1000;
  const sorted = later.sort((one, other) => one - other);
  const at = (share: number) => `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)} ms`;
  const log = statSync(join(data, 'events.db')).size;
  const snapshots = readdirSync(join(data, 'past')).filter((name) => name.endsWith('.zst'));
  const past = snapshots.reduce((sum, name) => sum + statSync(join(data, 'past', name)).size, 0);
  console.log(`${end} events; first answers: mean ${mean.toFixed(1)} s, worst ${worst.toFixed(1)} s`);
  console.log(`later ones: p50 ${at(0.5)}, p99 ${at(0.99)}; load ${loadavg()[0]?.toFixed(1)}`);
  console.log(`${snapshots.length} snapshots: ${((100 * past) / log).toFixed(0)} % of the log`);
}

async function untilAnswered(url: string): Promise<number> {
  const began = performance.now();
  for (;;) {
    const answer = await fetch(url);
    const body = await answer.text();
    if (answer.ok) return performance.now() - began;
    if (answer.status !== 503) throw new Error(`${url}: ${answer.status} ${body}`);
    await delay(50);
  }
}
