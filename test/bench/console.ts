import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/chromium.ts';
import { startServer, VARVE } from '../support/server.ts';

/**
 * `node test/bench/console.ts`: measures the console in Chromium on a site with many types, components and entries. Prints milliseconds, the
 * median of `--rounds`, and the requests that a part sends.
 */
const { values } = parseArgs({
  options: {
    types: { type: 'string', default: '500' },
    components: { type: 'string', default: '250' },
    entries: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
  },
});
const [types, components, entries, rounds] = [
  Number(values.types),
  Number(values.components),
  Number(values.entries),
  Number(values.rounds),
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
  ['a list of all entries', '#/content/thing0s', 'main td a'],
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
  await measure(server.url).finally(() => server.dispose());
  console.log(`load ${loadavg()[0]}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
