import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { pct, sorted } from '../conformance/bench/common.mjs';
import { removeIndices } from '../support/remove-indices.ts';
import { CONTENT_TYPES, importDataSet, ROOT } from './bench-data.ts';
import { startProcess } from './server-process.ts';

/**
 * `node test/bench/edit-load.ts --url URL`: sends edits of restaurants at a fixed rate, whether or not earlier ones are answered, as many
 * editors would. Measures them alone, and while a category of 80 restaurants is renamed again and again. Each edit publishes. At the end
 * it deletes a category that nearly all restaurants have. Prints the times until an edit is answered, which is when searches show it, and
 * the answers that are not 200.
 */
const options = new Command()
  .requiredOption('--url <url>', 'Elasticsearch')
  .option('--restaurants <n>', 'size of the data set', '20000')
  .option('--reviews <n>', 'size of the data set', '60000')
  .option('--rate <n>', 'edits a second', '20')
  .option('--rename-every <ms>', 'pause between two renames of a category', '2000')
  .option('--shown-every <n>', 'edits, of which one changes a column that reviews copy', '1')
  .option('--seconds <n>', 'seconds of each part', '30')
  .parse()
  .opts<
    Record<'url' | 'restaurants' | 'reviews' | 'rate' | 'renameEvery' | 'shownEvery' | 'seconds', string>
  >();

const [rate, seconds] = [Number(options.rate), Number(options.seconds)];
const shownEvery = Number(options.shownEvery);
const scratch = mkdtempSync(join(tmpdir(), 'varve-edit-load-'));
const data = join(scratch, 'data');
const space = `editload_${process.pid}`;

const RENAMED_RESTAURANTS = 80;
const [RENAMED, DELETED] = ['category:cat000007', 'category:cat000008'];

type Timed = { readonly milliseconds: number; readonly status: number };

try {
  importDataSet(data, scratch, options, { settings: ['--space', space], rewrite: giveOneCategory });
  const server = await startProcess(
    [
      ...['--min-semi-space-size=32', 'services/cli/varve.ts', 'serve', '--content-types', CONTENT_TYPES],
      ...['--data', data, '--port', '0', '--read-index', options.url, '--space', space],
    ],
    ROOT,
    '/health/ready',
  );
  try {
    await measure(`${server.base}/api`);
  } finally {
    await server.stop();
  }
} finally {
  await removeIndices(options.url, space);
  rmSync(scratch, { recursive: true, force: true });
}

/** Gives nearly all restaurants one category, which is deleted at the end. The renamed category keeps 80 restaurants. */
function giveOneCategory(folder: string): void {
  const file = join(folder, 'restaurant.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  let kept = 0;
  const changed = lines.map((line) =>
    line.includes(RENAMED) && kept++ < RENAMED_RESTAURANTS
      ? line
      : line.replace(/"category:cat\d+"/, `"${DELETED}"`),
  );
  writeFileSync(file, changed.join('\n'));
}

async function measure(api: string): Promise<void> {
  const restaurants = await idsOf(api, 'restaurants', 100);
  const categories = await idsOf(api, 'categories', 50);
  await load(api, restaurants, AbortSignal.timeout(3_000));
  report('edits alone', await load(api, restaurants, AbortSignal.timeout(seconds * 1_000)));
  const over = AbortSignal.timeout(seconds * 1_000);
  const [edits, renames] = await Promise.all([
    load(api, restaurants, over),
    renameAgain(api, categories[7] ?? '', over),
  ]);
  report('edits during renames', edits);
  report('the renames', renames);
  const referrers = await referrersOf(api, categories[8] ?? '');
  const started = performance.now();
  const status = await send('DELETE', `${api}/categories/${categories[8]}`);
  console.log(
    `DELETE of a category with ${referrers} restaurants: ${status} after ${(performance.now() - started).toFixed(0)} ms`,
  );
}

/** Sends edits at the rate until a signal, and resolves when all are answered. */
async function load(api: string, ids: readonly string[], over: AbortSignal): Promise<readonly Timed[]> {
  const edits: Promise<Timed>[] = [];
  const started = performance.now();
  for (let i = 0; !over.aborted; i++) {
    await delay(Math.max(0, started + (i * 1_000) / rate - performance.now()));
    const url = `${api}/restaurants/${ids[(i * 37) % ids.length]}`;
    edits.push(
      timed('PUT', url, {
        description: `edit ${i} ${started}`,
        ...(i % shownEvery === 0 && { stars: i % 7 }),
      }),
    );
  }
  return Promise.all(edits);
}

async function renameAgain(api: string, id: string, over: AbortSignal): Promise<readonly Timed[]> {
  const renames: Promise<Timed>[] = [];
  for (let i = 0; !over.aborted; i++) {
    renames.push(timed('PUT', `${api}/categories/${id}`, { name: `Renamed ${i}` }));
    await delay(Number(options.renameEvery), undefined, { signal: over }).catch(() => {});
  }
  return Promise.all(renames);
}

async function timed(method: string, url: string, changes: object): Promise<Timed> {
  const started = performance.now();
  const status = await send(method, url, changes);
  return { milliseconds: performance.now() - started, status };
}

async function send(method: string, url: string, changes?: object): Promise<number> {
  const body = changes === undefined ? {} : { body: JSON.stringify({ data: changes }) };
  const answer = await fetch(url, { method, headers: { 'content-type': 'application/json' }, ...body });
  const text = await answer.text();
  if (!answer.ok) console.log(`${method} ${url}: ${answer.status} ${text}`);
  return answer.status;
}

function report(what: string, all: readonly Timed[]): void {
  const times = sorted(all.map(({ milliseconds }) => milliseconds));
  const [p50, p90, p99, worst] = [pct(times, 0.5), pct(times, 0.9), pct(times, 0.99), times.at(-1) ?? 0];
  const late = all.filter(({ status }) => status === 202).length;
  const values = [p50, p90, p99, worst].map((value) => `${value.toFixed(0)} ms`);
  console.log(
    `${what}: ${all.length}, p50 ${values[0]}, p90 ${values[1]}, p99 ${values[2]}, worst ${values[3]}; 202: ${late}`,
  );
}

/** Returns how many restaurants have a category. */
async function referrersOf(api: string, category: string): Promise<number> {
  const query = `filters[category][documentId]=${category}&status=draft&fields=id&pagination[pageSize]=1`;
  const { meta } = (await (await fetch(`${api}/restaurants?${query}`)).json()) as {
    readonly meta: { readonly pagination: { readonly total: number } };
  };
  return meta.pagination.total;
}

async function idsOf(api: string, collection: string, count: number): Promise<readonly string[]> {
  const answer = await fetch(`${api}/${collection}?pagination[pageSize]=${count}&sort=id`);
  const { data: found } = (await answer.json()) as {
    readonly data: readonly { readonly documentId: string }[];
  };
  return found.map(({ documentId }) => documentId);
}
