import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, longInBrowser, openBrowser } from '../support/chromium.ts';
import { faultsOf, servePage, serveScripts } from '../support/instant-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Timeout for a page's reaction to a click, which takes longer on a busy machine. */
const WAIT = { timeout: 60_000 };

describe('the pages that a new user sees', longInBrowser('first pages in Chromium'), () => {
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  let faults: readonly string[];
  const hosts = new Set<string>();

  beforeAll(async () => {
    server = await startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] });
    browser = await openBrowser();
    page = await browser.context.newPage();
    faults = faultsOf(page);
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol !== 'data:') hosts.add(host);
    });
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await server?.dispose();
  });

  test('the console lists content types with their counts, and links that work', async () => {
    await page.goto(server.url);
    await page.waitForSelector('#types tbody tr:nth-child(9)');
    const row = page.locator('#types tbody tr', { hasText: '/api/restaurants' });
    const listed = await (await fetch(`${server.url}/api/restaurants`)).json();
    const { total } = (listed as { meta: { pagination: { total: number } } }).meta.pagination;
    expect(await row.locator('.count').textContent()).toBe(String(total));
    await page.waitForSelector('#example a');
    const links = await page.$$eval('a', (found) => found.map((each) => each.getAttribute('href') ?? ''));
    expect(links).toContain('/search');
    expect(links).toContain('/docs');
    for (const link of links.filter((each) => !each.startsWith('#')))
      expect((await fetch(server.url + link)).status, link).toBe(200);
    const example = await page.getAttribute('#example a', 'href');
    const found = (await (await fetch(server.url + example)).json()) as { data: readonly object[] };
    expect(found.data.length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  test('the search page finds, filters and marks', async () => {
    await page.goto(`${server.url}/search`);
    await page.waitForSelector('.ais-Hits-item');
    await page.fill('.ais-SearchBox-input', 'taberna');
    await page.waitForSelector('.ais-Highlight-highlighted');
    expect(await page.locator('.ais-Hits-item').count()).toBe(1);
    expect(await page.textContent('.ais-Hits-item h3')).toContain('Taberna do Rio');
    expect(await page.textContent('.ais-Hits-item mark')).toBe('Taberna');
    await page.fill('.ais-SearchBox-input', '');
    await page.locator('#cities label', { hasText: 'Lisbon' }).click();
    await page.waitForSelector('.ais-CurrentRefinements-item');
    const facts = () => page.locator('.facts').allTextContents();
    await expect
      .poll(facts, WAIT)
      .toSatisfy(
        (all: readonly string[]) => all.length > 0 && all.every((each) => each.trim().startsWith('Lisbon')),
      );
    expect(await page.locator('#cities label').count()).toBeGreaterThan(1);
    expect(faults).toEqual([]);
  });

  test('the documentation opens with the endpoints, and operators fold', async () => {
    await page.goto(`${server.url}/docs`);
    await page.waitForSelector('.opblock-tag');
    const first = await page.locator('.opblock-tag').first().boundingBox();
    expect(first?.y).toBeLessThan(1_000);
    const operator = page.locator('.information-container code', { hasText: '$containsi' }).first();
    expect(await operator.isVisible()).toBe(false);
    await page.locator('summary', { hasText: 'Operators' }).click();
    expect(await operator.isVisible()).toBe(true);
    expect(faults).toEqual([]);
  });

  test('the browser sends requests only to the server', () => {
    expect([...hosts]).toEqual([new URL(server.url).host]);
  });

  test('the page of docs/search.md works unchanged, from another origin', async () => {
    const docs = readFileSync(new URL('../../docs/search.md', import.meta.url), 'utf8');
    const html = /```html\n([\s\S]*?)```/.exec(docs)?.[1] ?? '';
    expect(html.trim().split('\n').length).toBeLessThanOrEqual(22);
    const served = await servePage(html.replace('127.0.0.1:1337', new URL(server.url).host));
    const other = await browser.context.newPage();
    const its = faultsOf(other);
    await serveScripts(other);
    await other.goto(served.url);
    await other.waitForSelector('.ais-Hits-item');
    await other.fill('.ais-SearchBox-input', 'casa');
    await expect.poll(() => other.locator('.ais-Hits-item mark').first().textContent(), WAIT).toBe('Casa');
    expect(await other.textContent('.ais-Hits-item')).toMatch(/^Casa .*, Lisbon/);
    // Only the browser itself asks for an icon.
    expect(its.filter((fault) => !fault.includes('favicon'))).toEqual([]);
    served.close();
  });
});
