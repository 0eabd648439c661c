import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { pct, sorted } from '../conformance/bench/common.mjs';
import { removeIndices } from '../support/remove-indices.ts';
import { createRandom, WORDS } from './embedded-data.ts';
import { startProcess } from './server-process.ts';

/**
 * `node test/bench/fan-out.ts --url URL`: renames one country that every restaurant's document shows through its chef, while editors
 * change restaurants and tags. It searches for every edit as soon as it is answered. Prints how long edits took to be visible before
 * and during the fan-out, the backlog over time, and the time until it was empty. Exits with 1 if an edit was not found, or took more
 * than a second.
 */
const root = resolve(import.meta.dirname, '../..');
const options = new Command()
  .requiredOption('--url <url>', 'Elasticsearch')
  .option(
    '--restaurants <n>',
    'documents that show the country; every second one is published as well',
    '20000',
  )
  .option('--editors <n>', 'who edit at once', '3')
  .option('--quiet-seconds <n>', 'of edits before the country is renamed', '5')
  .parse()
  .opts<Record<'url' | 'restaurants' | 'editors' | 'quietSeconds', string>>();

const RESTAURANTS = Number(options.restaurants);
const CHEFS = 100;
const TAGS = 500;
/** Milliseconds between two edits of an editor. It simulates people, not full load. */
const PAUSE = 20;
const LIMIT = 1_000;
const SAMPLE_EVERY = 500;
const NODE_FLAGS = ['--min-semi-space-size=32'];
const contentTypes = join(root, 'test/conformance/schema');
const scratch = mkdtempSync(join(tmpdir(), 'varve-fan-out-'));
const space = `fanout_${process.pid}`;

let edited = 0;

type Edit = { readonly milliseconds: number; readonly found: boolean };

try {
  importData();
  const server = await startProcess(
    [
      ...[...NODE_FLAGS, 'services/cli/varve.ts', 'serve', '--content-types', contentTypes],
      ...['--data', join(scratch, 'data'), '--port', '0', '--read-index', options.url, '--space', space],
    ],
    root,
    '/health/ready',
  );
  try {
    await measure(server.base);
  } finally {
    await server.stop();
  }
} finally {
  await removeIndices(options.url, space);
  rmSync(scratch, { recursive: true, force: true });
}

function importData(): void {
  const random = createRandom(11);
  const text = (words: number) => Array.from({ length: words }, () => random.pick(WORDS)).join(' ');
  const line = (type: string, key: string, state: string, data: object) =>
    JSON.stringify({ type, key, state, data: { key, ...data } });
  const lines = [line('country', 'one', 'live', { name: 'Before' })];
  for (let i = 0; i < TAGS; i++) lines.push(line('tag', `t${i}`, 'live', { name: `tag ${i}` }));
  for (let i = 0; i < CHEFS; i++) {
    const name = `chef ${i}`;
    lines.push(line('chef', `c${i}`, 'published', { name, bio: text(20), country: { $ref: 'country:one' } }));
  }
  for (let i = 0; i < RESTAURANTS; i++) {
    const links = { chef: { $ref: `chef:c${i % CHEFS}` }, tags: [{ $ref: `tag:t${random.below(TAGS)}` }] };
    const data = { name: `${text(2)} ${i}`, description: text(30), stars: i % 6, ...links };
    lines.push(line('restaurant', `r${i}`, i % 2 === 0 ? 'published' : 'draft', data));
  }
  const file = join(scratch, 'entries.jsonl');
  writeFileSync(file, lines.join('\n'));
  const args = ['services/cli/varve.ts', 'import', file, '--content-types', contentTypes];
  execFileSync(
    process.execPath,
    [...NODE_FLAGS, ...args, '--data', join(scratch, 'data'), '--space', space],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
}

async function measure(base: string): Promise<void> {
  const ids = {
    restaurants: await idsOf(base, 'restaurants', 100),
    tags: await idsOf(base, 'tags', 100),
  };
  const [country = ''] = await idsOf(base, 'countries', 1);
  console.log(`${RESTAURANTS} restaurants, ${options.editors} editors, an edit every ${PAUSE} ms each`);
  report('before', await editUntil(base, ids, delay(Number(options.quietSeconds) * 1000)));

  const started = performance.now();
  const samples: string[] = [];
  const rest = renameAndRest(base, country, started, samples);
  report('meanwhile', await editUntil(base, ids, rest));
  const { answered, rested } = await rest;
  console.log(`renamed in ${answered.toFixed(0)} ms, caught up after ${(rested / 1000).toFixed(1)} s`);
  console.log(`backlog (seconds: documents): ${samples.join(', ')}`);
}

/** Renames the country, and resolves when searches find all restaurants by the new name and nothing waits. Times are since `started`. */
async function renameAndRest(base: string, country: string, started: number, samples: string[]) {
  await write(base, 'PUT', `countries/${country}`, { name: 'After' });
  const answered = performance.now() - started;
  for (;;) {
    const backlog = await metric(base, 'varve_fanout_backlog_documents');
    const seconds = (performance.now() - started) / 1000;
    samples.push(`${seconds.toFixed(1)}: ${backlog}`);
    if (backlog < 100 && (await showing(base)) === RESTAURANTS) break;
    await delay(SAMPLE_EVERY);
  }
  return { answered, rested: performance.now() - started };
}

async function showing(base: string): Promise<number> {
  const filter = 'filters[chef][country][name][$eq]=After&status=draft&pagination[pageSize]=1';
  return (await read(base, `restaurants?${filter}`)).meta.pagination.total;
}

type Ids = { readonly restaurants: readonly string[]; readonly tags: readonly string[] };

/** Lets editors work until a promise settles. Returns the results of their edits. */
async function editUntil(base: string, ids: Ids, end: Promise<unknown>): Promise<readonly Edit[]> {
  let ended = false;
  void end.finally(() => {
    ended = true;
  });
  const edits: Edit[] = [];
  const editors = Array.from({ length: Number(options.editors) }, async (_, editor) => {
    for (let i = editor; !ended; i += Number(options.editors)) {
      edits.push(await editOnce(base, ids, i));
      await delay(PAUSE);
    }
  });
  await Promise.all(editors);
  return edits;
}

/** Edits a document and searches for it. Every fifth edit is of a tag, which some forty restaurants show: too few for a backlog. */
async function editOnce(base: string, ids: Ids, i: number): Promise<Edit> {
  const collection = i % 5 === 4 ? 'tags' : 'restaurants';
  const documentId = ids[collection][i % ids[collection].length] ?? '';
  const name = `edited ${edited++}`;
  const started = performance.now();
  await write(base, 'PUT', `${collection}/${documentId}?status=draft`, { name });
  const milliseconds = performance.now() - started;
  const filters = [`${collection}?status=draft&filters[name][$eq]=${encodeURIComponent(name)}`];
  if (collection === 'tags') filters.push(`restaurants?status=draft&filters[tags][name][$eq]=${name}`);
  const answers = await Promise.all(filters.map((filter) => read(base, filter)));
  const found = answers.every(({ data }) => data.length > 0);
  if (!found)
    console.log(`not found: ${collection}/${documentId} ${name}: ${answers.map(({ data }) => data.length)}`);
  return { milliseconds, found };
}

function report(when: string, edits: readonly Edit[]): void {
  const times = sorted(edits.map(({ milliseconds }) => milliseconds));
  const missed = edits.filter(({ found }) => !found).length;
  const slowest = times.at(-1) ?? 0;
  const [p50, p99] = [pct(times, 0.5), pct(times, 0.99)];
  const took = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`;
  console.log(`edits ${when}: ${edits.length}, visible after ${took}; not found when answered: ${missed}`);
  if (missed > 0 || slowest > LIMIT) process.exitCode = 1;
}

async function idsOf(base: string, collection: string, count: number): Promise<readonly string[]> {
  const { data } = await read(base, `${collection}?status=draft&pagination[pageSize]=${count}&sort=id`);
  return data.map(({ documentId }) => documentId);
}

type Found = {
  readonly data: readonly { readonly documentId: string }[];
  readonly meta: { readonly pagination: { readonly total: number } };
};

async function read(base: string, path: string): Promise<Found> {
  const answer = await fetch(`${base}/api/${path}`);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Found;
}

/** Writes, and fails on any answer but 200 and 201. A 202 would mean that the write is stored but not visible yet. */
async function write(base: string, method: string, path: string, data: object): Promise<void> {
  const answer = await fetch(`${base}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
}

async function metric(base: string, name: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(text)?.[1]);
}
