import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/chromium.ts';
import { type RunningServer, startServer, VARVE } from '../support/server.ts';
import { cpuSeconds } from './server-process.ts';

/**
 * `node test/bench/console.ts`: measures the console in Chromium on a site with many types, components and entries. Prints milliseconds, the
 * median of `--rounds`, and the requests that a part sends. Then it writes five entries a second, and prints the CPU of the server's worker
 * without a page and with one, each for `--cpu-seconds`.
 */
const { values } = parseArgs({
  options: {
    types: { type: 'string', default: '500' },
    components: { type: 'string', default: '250' },
    entries: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    'cpu-seconds': { type: 'string', default: '60' },
  },
});
const [types, components, entries, rounds, cpuTime] = [
  Number(values.types),
  Number(values.components),
  Number(values.entries),
  Number(values.rounds),
  Number(values['cpu-seconds']),
];

function writeJson(folder: string, name: string, value: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), JSON.stringify(value));
}

/** Writes a project: types with ten attributes, one component and a relation each. All entries are of `thing0`. */
function writeProject(folder: string): void {
  for (let i = 0; i < components; i++)
    writeJson(join(folder, 'components/part'), `c${i}.json`, {
      info: { displayName: `Part ${i}` },
      attributes: { label: { type: 'string' }, size: { type: 'integer' } },
    });
  const scalars = Object.fromEntries(
    ['string', 'text', 'integer', 'boolean', 'datetime', 'email', 'decimal', 'json', 'richtext'].map(
      (type) => [`a_${type}`, { type }],
    ),
  );
  for (let i = 0; i < types; i++) {
    const name = `thing${i}`;
    writeJson(join(folder, `api/${name}/content-types/${name}`), 'schema.json', {
      kind: 'collectionType',
      collectionName: `${name}s`,
      info: { singularName: name, pluralName: `${name}s`, displayName: `Thing ${i}` },
      options: { draftAndPublish: true },
      attributes: {
        name: { type: 'string' },
        ...scalars,
        part: { type: 'component', component: `part.c${i % components}`, repeatable: true },
        next: {
          type: 'relation',
          relation: 'manyToOne',
          target: `api::thing${(i + 1) % types}.thing${(i + 1) % types}`,
        },
      },
    });
  }
}

async function writeEntries(file: string): Promise<void> {
  const out = createWriteStream(file);
  for (let i = 0; i < entries; i++) {
    const data = { name: `Entry ${i} of the site`, a_integer: i, a_text: `word${i % 1000} and others` };
    if (!out.write(`${JSON.stringify({ type: 'thing0', key: `e${i}`, data })}\n`))
      await new Promise((resolve) => out.once('drain', resolve));
  }
  await new Promise<void>((resolve) => out.end(() => resolve()));
}

function median(measured: readonly number[]): number {
  return Math.round(measured.toSorted((a, b) => a - b)[Math.floor(measured.length / 2)] ?? 0);
}

/** Measures how long a link within the page takes until what it shows is drawn. */
async function openPart(page: Page, link: string, drawn: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now();
    const look = () => {
      if (document.querySelector(${JSON.stringify(drawn)}) === null) requestAnimationFrame(look);
      else resolve(performance.now() - began);
    };
    location.hash = ${JSON.stringify(link)};
    requestAnimationFrame(look);
  })`);
}

const PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`;

/** Parts that a person opens one after another, and what is there when they are drawn. */
const PARTS: readonly (readonly [what: string, link: string, drawn: string])[] = [
  ['content, all types', '#/content', '.types li'],
  ['a list of all entries', '#/content/thing0s', '[aria-label=Entries] td a'],
  ['a search', '#/content/thing0s?q=word7', '.matches mark'],
  ['sorted by a number', '#/content/thing0s?sort=a_integer%3Adesc', 'th[aria-sort]'],
  ['the form of a new entry', '#/content/thing0s/_new', '.form .field'],
  ['rights of all types', '#/access', '.matrix tbody tr'],
];

async function measure(url: string): Promise<void> {
  const browser = await openBrowser();
  const found = new Map<string, number[]>();
  const note = (what: string, ms: number) => found.set(what, [...(found.get(what) ?? []), ms]);
  const sent = new Map<string, number>();
  try {
    for (let round = 0; round < rounds; round++) {
      const page = await browser.context.newPage();
      let requests = 0;
      page.on('request', () => {
        requests++;
      });
      await page.goto(`${url}/_varve/`);
      await page.waitForSelector('.pipeline .stage');
      note('first paint', await page.evaluate<number>(PAINT));
      note('overview with its data', await page.evaluate<number>('performance.now()'));
      for (const [what, link, drawn] of PARTS) {
        requests = 0;
        note(what, await openPart(page, link, drawn));
        await page.waitForTimeout(500);
        sent.set(what, requests);
      }
      await page.close();
    }
  } finally {
    await browser.close();
  }
  for (const [what, measured] of found) {
    const requests = sent.has(what) ? `, ${sent.get(what)} requests` : '';
    console.log(`${what}: ${median(measured)} ms (${measured.map(Math.round).join(', ')})${requests}`);
  }
}

/** Parts of the measurement of the CPU, without and with a page in turn: other load of the machine then meets both. */
const SLICES = 4;
const WRITES_A_SECOND = 5;

/** Writes entries at a steady rate for some seconds, and returns the CPU seconds of the worker meanwhile. */
async function cpuUnderWrites(server: RunningServer, seconds: number): Promise<number> {
  const pid = server.worker();
  if (pid === undefined) throw new Error('the server has no worker');
  const before = cpuSeconds(pid);
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const next = performance.now() + 1_000 / WRITES_A_SECOND;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ data: { name: `Written ${Math.round(next)}` } });
    const { status } = await fetch(`${server.url}/api/thing1s`, { method: 'POST', headers, body });
    if (status !== 201) throw new Error(`a write was answered with ${status}`);
    await delay(Math.max(0, next - performance.now()));
  }
  return cpuSeconds(pid) - before;
}

/** Prints the CPU of the worker without a page, and with the overview open. */
async function measureCpu(server: RunningServer): Promise<void> {
  const shares: { readonly without: number[]; readonly open: number[] } = { without: [], open: [] };
  for (let i = 0; i < SLICES; i++) {
    const seconds = (2 * cpuTime) / SLICES;
    const browser = i % 2 === 1 ? await openBrowser() : undefined;
    const page = await browser?.context.newPage();
    await page?.goto(`${server.url}/_varve/`);
    await page?.waitForSelector('.pipeline .stage');
    await page?.waitForTimeout(3_000);
    const share = (await cpuUnderWrites(server, seconds)) / seconds;
    shares[page === undefined ? 'without' : 'open'].push(100 * share);
    await browser?.close();
  }
  for (const [what, found] of Object.entries(shares)) {
    const mean = found.reduce((all, each) => all + each, 0) / found.length;
    const each = found.map((share) => share.toFixed(2)).join(', ');
    console.log(`CPU of the worker, page ${what}: ${mean.toFixed(2)} % of a core (${each})`);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'varve-console-'));
try {
  const project = join(folder, 'src');
  writeProject(project);
  await writeEntries(join(folder, 'entries.jsonl'));
  const data = join(folder, 'data');
  const options = ['--content-types', project, '--data', data];
  const imported = spawnSync(
    process.execPath,
    [...VARVE, 'import', join(folder, 'entries.jsonl'), ...options],
    {
      encoding: 'utf8',
    },
  );
  if (imported.status !== 0) throw new Error(imported.stderr);
  const server = await startServer({ contentTypes: project, data });
  console.log(`${types} types, ${components} components, ${entries} entries; load ${loadavg()[0]}`);
  try {
    await measure(server.url);
    await measureCpu(server);
  } finally {
    await server.dispose();
  }
  console.log(`load ${loadavg()[0]}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
