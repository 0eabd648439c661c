import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { createAsk } from '../support/access-client.ts';
import { openBrowser } from '../support/chromium.ts';
import { startServer } from '../support/server.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/**
 * Makes the pictures of the console in docs/console: `npm run console-pictures`. `--url` takes those of a running server, `--out` writes them
 * elsewhere, `--only` makes those of one part, and `--every` makes them at all three widths in light and dark. They have 128 colours, so that
 * all of them together have less than 2 MB.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    out: { type: 'string', default: 'docs/console' },
    only: { type: 'string' },
    every: { type: 'boolean', default: false },
  },
});

/** Parts, the links to them, and what is there when they are drawn. */
const VIEWS: readonly (readonly [name: string, link: string, drawn: string])[] = [
  ['overview', '#/overview', '.plot canvas'],
  [
    'content',
    '#/content/restaurants?sort=name%3Aasc&filter=filters%5Bcity%5D%5Bcountry%5D%5Bname%5D%5B%24eq%5D%3DPortugal',
    'td',
  ],
  [
    'query',
    '#/query?request=%2Fapi%2Frestaurants%3Ffilters%5Bcity%5D%5Bname%5D%5B%24eq%5D%3DLisbon%26fields%3Dname&plan=true',
    '.answer pre.body',
  ],
  ['projections', '#/projections', '.generations tbody tr'],
  ['log', '#/log/100', '.event pre.body'],
  ['delivery', '#/delivery', '.deliveries tbody tr'],
  ['backup', '#/backup', 'section[aria-label="Backup and export"] button'],
  ['access', '#/access', 'section[aria-label="Public rights"] .matrix tbody tr'],
  ['releases', '#/releases', '.releases tbody tr'],
  ['erasures', '#/erasures', '.erasures tbody tr'],
  ['settings', '#/settings', '.settings tbody tr'],
];

const LOOKS = [
  { name: 'light', width: 1280, height: 900, scheme: 'light' },
  { name: 'dark', width: 1280, height: 900, scheme: 'dark' },
  { name: 'phone', width: 390, height: 844, scheme: 'light' },
] as const;
const EVERY = [
  ...LOOKS,
  { name: 'phone-dark', width: 390, height: 844, scheme: 'dark' },
  { name: 'tablet', width: 768, height: 1024, scheme: 'light' },
  { name: 'tablet-dark', width: 768, height: 1024, scheme: 'dark' },
] as const;

/** Makes a webhook with deliveries, a release and an erasure. */
async function fillParts(url: string, receiver: string): Promise<void> {
  const ask = createAsk(url);
  const post = async (path: string, data: object) =>
    (await ask(path, { method: 'POST', body: { data } })).body.data;
  await post('/_varve/webhooks', { name: 'site', url: `${receiver}/rebuild`, allowPrivate: true });
  const { documentId } = await post('/api/cuisines', { name: 'Georgian', slug: 'georgian' });
  const erasure = { type: 'api::cuisine.cuisine', documentId, reason: 'request 12 of 2031' };
  await post('/_varve/erasures', { ...erasure, confirm: 1 });
  const { id } = await post('/_varve/releases', { name: 'Summer menu', scheduledAt: '2031-06-01T06:00:00Z' });
  const { data } = (await ask('/api/restaurants?pagination[pageSize]=3&sort=name')).body;
  for (const { documentId: entryDocumentId } of data)
    await post(`/_varve/releases/${id}/actions`, {
      type: 'unpublish',
      contentType: 'api::restaurant.restaurant',
      entryDocumentId,
    });
}

/** Reads and writes for a minute, so that the plots show something. */
async function makeTraffic(url: string): Promise<void> {
  const until = Date.now() + 65_000;
  for (let i = 0; Date.now() < until; i++) {
    await fetch(`${url}/api/restaurants?populate=*&pagination[page]=${1 + (i % 5)}`);
    if (i % 20 === 0) {
      const data = { name: `Cuisine ${i}`, slug: `cuisine-${i}` };
      const headers = { 'content-type': 'application/json' };
      await fetch(`${url}/api/cuisines`, { method: 'POST', headers, body: JSON.stringify({ data }) });
    }
    await delay(20 + 15 * Math.sin(i / 300));
  }
}

async function takePicture(
  page: Page,
  url: string,
  view: (typeof VIEWS)[number],
  look: (typeof EVERY)[number],
) {
  const [name, link, drawn] = view;
  await page.emulateMedia({ colorScheme: look.scheme });
  await page.setViewportSize({ width: look.width, height: look.height });
  await page.goto(`${url}/_varve/${link}`);
  await page.reload();
  await page.waitForSelector(drawn);
  // Plots are drawn after their modules have come.
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {});
  const picture = await page.screenshot({ fullPage: values.every });
  await sharp(picture)
    .png({ palette: true, colours: 128, effort: 10 })
    .toFile(join(values.out, `${name}-${look.name}.png`));
}

const own =
  values.url === undefined
    ? await startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] })
    : undefined;
const url = values.url ?? own?.url ?? '';
const receiver = await startReceiver();
const browser = await openBrowser();
try {
  mkdirSync(values.out, { recursive: true });
  if (own !== undefined) {
    await fillParts(url, receiver.url);
    await makeTraffic(url);
  }
  const page = await browser.context.newPage();
  page.on('console', (message) => message.type() === 'error' && console.error(message.text()));
  page.on('pageerror', (error) => console.error(error));
  for (const view of VIEWS)
    if (values.only === undefined || values.only === view[0])
      for (const look of values.every ? EVERY : LOOKS) await takePicture(page, url, view, look);
} finally {
  await browser.close();
  await own?.dispose();
  await receiver.close();
}
