import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { num } from '../conformance/bench/common.mjs';
import { removeIndices } from '../support/remove-indices.ts';
import { importDataSet } from './bench-data.ts';
import { WORDS } from './embedded-data.ts';
import { startVarve } from './start-varve.ts';

/**
 * `node test/bench/groups.ts`: measures what `distinct` costs, over 20,000 restaurants. Lists without and with it alternate on one
 * connection, and each page is another one. The servers remember no answer. With `--elasticsearch URL`, it also measures that engine.
 */
const options = new Command()
  .option('--elasticsearch <url>', 'also measure a server on this Elasticsearch')
  .option('--pairs <n>', 'pairs of each kind', '150')
  .parse()
  .opts<{ elasticsearch?: string; pairs: string }>();

const SPACE = `bench_groups_${process.pid}`;
const LISTS: readonly (readonly [name: string, query: (i: number) => string, distinct: string])[] = [
  ['one kind, by price', (i) => `filters[kind][$eq]=diner&sort=price&${pageOf(i)}`, 'name'],
  ['one kind, by price', (i) => `filters[kind][$eq]=diner&sort=price&${pageOf(i)}`, 'slug'],
  ['two words', (i) => `search=${WORDS[i % 20]}%20${WORDS[20 + (i % 19)]}&${pageOf(i % 3)}`, 'name'],
  ['all, by name', (i) => `sort=name&${pageOf(i)}`, 'kind'],
];

function pageOf(i: number): string {
  return `pagination[page]=${(i % 10) + 1}&pagination[pageSize]=20`;
}

const scratch = mkdtempSync(join(tmpdir(), 'varve-bench-groups-'));
try {
  const data = join(scratch, 'data');
  importDataSet(data, scratch, { restaurants: '20000', reviews: '100' }, { settings: ['--space', SPACE] });
  const more = ['--answer-cache-bytes', '0', '--space', SPACE];
  await measureServer('embedded', data, more);
  const { elasticsearch: url } = options;
  if (url !== undefined) {
    try {
      await measureServer('Elasticsearch', data, [...more, '--read-index', url]);
    } finally {
      await removeIndices(url, SPACE);
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measureServer(engine: string, data: string, more: readonly string[]): Promise<void> {
  const server = await startVarve({ data, more });
  for (const [name, query, distinct] of LISTS) {
    const paths = [(i: number) => query(i), (i: number) => `${query(i)}&distinct=${distinct}`] as const;
    const times: [number[], number[]] = [[], []];
    const totals: number[] = [];
    for (let i = -10; i < Number(options.pairs); i++) {
      for (const [side, path] of paths.entries()) {
        const started = performance.now();
        const answer = await fetch(`${server.base}/api/restaurants?${path(i + 10)}`);
        const body = await answer.text();
        if (i >= 0) times[side]?.push(performance.now() - started);
        totals[side] = answer.ok ? Number(/"total":(\d+)/.exec(body.slice(-20_000))?.[1]) : -answer.status;
      }
    }
    const [without, grouped] = times.map(median);
    const figures = `${num(without ?? 0, 2)} ms without, ${num(grouped ?? 0, 2)} ms with distinct=${distinct}`;
    const [found, groups] = totals.map((total) => (total < 0 ? `status ${-total}` : `${total}`));
    console.log(`${engine}, ${name}: ${figures} (${found} entries, ${groups} groups)`);
  }
  console.log(`load: ${loadavg().map((each) => num(each, 1))}`);
  await server.stop();
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
