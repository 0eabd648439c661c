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

  const PARTS: readonly (readonly [link: string, drawn: string])[] = [['#/overview', '.events tbody tr']];

  test.each(PARTS)('%s has no violation of accessibility, and no fault', async (link, drawn) => {
    await show(link, drawn);
    expect(await violations()).toEqual([]);
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false);
    expect(faults).toEqual([]);
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
