import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type Browser, longInBrowser, openBrowser } from '../support/chromium.ts';
import { faultsOf } from '../support/instant-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Timeout for a page's reaction, which takes longer on a busy machine. */
const WAIT = { timeout: 60_000 };
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const PROBE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';

declare global {
  var axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
}

describe('the console', longInBrowser('the console in Chromium'), () => {
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  let faults: readonly string[];

  beforeAll(async () => {
    server = await startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] });
    const ask = createAsk(server.url);
    await ask('/api/cuisines', { method: 'POST', body: { data: { name: PROBE, slug: 'probe' } } });
    browser = await openBrowser();
    page = await browser.context.newPage();
    faults = faultsOf(page);
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await server?.dispose();
  });

  /** Opens a part, and waits for what it shows. */
  async function show(link: string, drawn: string): Promise<void> {
    await page.goto(`${server.url}/_varve/${link}`);
    await page.waitForSelector(drawn, WAIT);
  }

  /** Returns the violations that axe-core finds, in light and dark. */
  async function violations(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // The policy of the page forbids scripts that are added; the debugger's own are not part of the page.
      await page.evaluate(AXE);
      const result = await page.evaluate(() => globalThis.axe.run());
      for (const { id, nodes } of result.violations)
        found.push(...nodes.map(({ html }) => `${colorScheme} ${id}: ${html}`));
    }
    return found;
  }

  const PARTS: readonly (readonly [link: string, drawn: string])[] = [
    ['#/overview', '.events tbody tr'],
    ['#/content', '.types a'],
    ['#/content/cuisines?sort=createdAt%3Adesc', 'td a'],
    ['#/content/restaurants?filter=filters%5Bcity%5D%5Bname%5D%5B%24eq%5D%3DLisbon', 'td a'],
    ['#/query?request=%2Fapi%2Fcuisines%3Fsort%3DcreatedAt%3Adesc&plan=true', '.answer pre.body'],
    ['#/query?request=%2Fapi%2Fcuisines%3Ffilters%5B%3Cimg%20onerror%3D1%3E%5D%3D1', '.answer .bad'],
  ];

  test.each(PARTS)('%s has no violation of accessibility, and no fault', async (link, drawn) => {
    await show(link, drawn);
    expect(await violations()).toEqual([]);
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false);
    // The browser itself reports each answer of 400.
    expect(faults.filter((fault) => !/status of 400/.test(fault))).toEqual([]);
  });

  test('the overview shows what the API says', async () => {
    await show('#/overview', '.events tbody tr');
    const { data } = (await createAsk(server.url)('/_varve/state')).body;
    expect(await page.textContent('.sentence')).toContain(data.summary.text);
    expect(await page.textContent('.pipeline')).toContain(`position ${data.log.position}`);
    expect(await page.locator('.pipeline .stage').count()).toBe(2 + data.projections.length);
    expect(await page.textContent('.light[role=status]')).toBe('live');
    // The second sample comes after twenty seconds.
    await page.waitForSelector('.plot canvas', WAIT);
    expect(await page.locator('.plot canvas').count()).toBe(4);
  });

  test('the overview shows each process, its role and whether it is ready', async () => {
    await show('#/overview', '.events tbody tr');
    const { processes } = (await createAsk(server.url)('/_varve/state')).body.data;
    const rows = page.locator('[aria-label=Processes] tbody tr');
    expect(await rows.count()).toBe(processes.length);
    const [{ role, pid, host, version, epoch }] = processes;
    const text = await rows.first().textContent();
    for (const part of [`${role} ${pid} on ${host}`, version, `leader · epoch ${epoch}`, 'ready'])
      expect(text).toContain(part);
  });

  test('the overview shows an event when it is written', async () => {
    await show('#/overview', '.events tbody tr');
    const made = await createAsk(server.url)('/api/cuisines', {
      method: 'POST',
      body: { data: { name: 'Georgian', slug: 'georgian' } },
    });
    const row = page.locator('.events tbody tr', { hasText: made.body.data.documentId });
    await row.first().waitFor(WAIT);
    expect(await row.first().textContent()).toContain('Cuisine');
  });

  test('the list shows what the API finds, by clicks and by the keyboard', async () => {
    await show('#/content/restaurants', 'td a');
    await page.click('summary:has-text("Filter")');
    await page.click('text=Add a condition');
    const first = page.locator('.condition').first();
    await first.locator('select').first().selectOption('city', WAIT);
    await first.locator('select').nth(1).selectOption('name', WAIT);
    await first.locator('select[aria-label=Operator]').selectOption('$eq', WAIT);
    await first.locator('input').fill('Lisbon', WAIT);
    await page.keyboard.press('Enter');
    await page.waitForSelector('code.path:has-text("Lisbon")', WAIT);
    const path = (await page.textContent('code.path')) ?? '';
    const { body } = await createAsk(server.url)(path);
    expect(body.data.length).toBeGreaterThan(0);
    await expect.poll(() => page.textContent('h1 .count'), WAIT).toBe(String(body.meta.pagination.total));
    const names = await page.locator('tbody td:first-child').allTextContents();
    expect(names).toEqual(body.data.map(({ name }: { name: string }) => name));
    // The same state in another tab.
    const link = page.url();
    const tab = await browser.context.newPage();
    await tab.goto(link);
    await tab.waitForSelector('.condition', WAIT);
    expect(await tab.textContent('code.path')).toBe(path);
    await tab.close();
  });

  test('an entry shows its draft and its published version, and marks the differences', async () => {
    const ask = createAsk(server.url);
    const { body } = await ask('/api/restaurants?pagination[pageSize]=1');
    const { documentId, tagline } = body.data[0];
    const data = { tagline: 'A line of the draft only' };
    await ask(`/api/restaurants/${documentId}?status=draft`, { method: 'PUT', body: { data } });
    await show(`#/content/restaurants/${documentId}`, '.values .other');
    const rows = page.locator('.values .other');
    expect(await rows.count()).toBe(1);
    expect(await rows.locator('td').allTextContents()).toEqual([data.tagline, tagline]);
    expect(await violations()).toEqual([]);
  });

  test('a query shows the answer, its headers, its plan and how to send it', async () => {
    const path = '/api/restaurants?filters[city][name][$eq]=Lisbon&fields[0]=name';
    await show('#/query', '#request');
    await page.fill('#request', `curl -g '${server.url}${path}'`);
    await page.check('input[name=plan]');
    await page.keyboard.press('Tab');
    await page.click('button:has-text("Send")');
    await page.waitForSelector('.answer pre.body', WAIT);
    const { body } = await createAsk(server.url)(path);
    const shown = JSON.parse((await page.textContent('.answer pre.body')) ?? '');
    expect(shown.data).toEqual(body.data);
    expect(await page.textContent('.answer .headers')).toContain('application/json');
    expect(await page.locator('.answer details[open] pre').textContent()).toContain('Lisbon');
    expect(await page.textContent('.answer .send')).toContain(`curl -g '${server.url}${path}'`);
  });

  // The last test: its token ends development mode.
  test('a caller without rights sees the form for a token only, and a token opens the page', async () => {
    const ask = createAsk(server.url);
    const full = await createTokenOver(ask, { name: 'all', type: 'full-access' });
    const tab = await browser.context.newPage();
    const its = faultsOf(tab);
    await tab.goto(`${server.url}/_varve/`);
    await tab.waitForSelector('.sign-in form', WAIT);
    expect(await tab.locator('header, table, .card').count()).toBe(1);
    await tab.fill('#token', 'wrong');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('[role=alert]', WAIT);
    await tab.fill('#token', full);
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('.events tbody tr', WAIT);
    expect(await tab.evaluate(() => Object.keys(localStorage).length)).toBe(0);
    await tab.click('text=Sign out');
    await tab.waitForSelector('.sign-in form', WAIT);
    // The browser itself reports each answer of 401 and 403.
    expect(its.filter((fault) => !/status of 40[13]/.test(fault))).toEqual([]);
  });
});
