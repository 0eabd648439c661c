import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, longInBrowser, openBrowser } from '../support/chromium.ts';
import { type RunningServer, startServer } from '../support/server.ts';

describe('/docs in a browser', longInBrowser('the documentation page in a browser'), () => {
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  /** Console errors (including violations of the page's CSP), exceptions, and failed requests. */
  const faults: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    server = await startServer({ contentTypes: 'examples/restaurants', arguments: ['--examples'] });
    browser = await openBrowser();
    page = await browser.context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('requestfailed', (request) => faults.push(`${request.url()} failed`));
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol !== 'data:') hosts.add(host);
    });
  });

  afterAll(async () => {
    await browser?.close();
    await server?.dispose();
  });

  /** Opens an operation, fills it in with `fill`, and sends it. Returns the answer that the page shows. */
  async function tryOperation(tag: string, id: string, fill: (operation: Locator) => Promise<void>) {
    const operation = page.locator(`#operations-${tag}-${id}`);
    if (!(await operation.isVisible())) await page.click(`[data-tag="${tag}"]`);
    await operation.locator('.opblock-summary').click();
    await operation.locator('.try-out__btn').click();
    await fill(operation);
    await operation.locator('.execute').click();
    const answer = operation.locator('.live-responses-table .response');
    await answer.waitFor();
    return {
      url: new URL((await operation.locator('.request-url pre').textContent()) ?? ''),
      status: (await answer.locator('.response-col_status').textContent())?.trim(),
      body: JSON.parse((await answer.locator('.highlight-code code').first().textContent()) ?? ''),
    };
  }

  test('shows every type, without an error', async () => {
    await page.goto(`${server.url}/docs`);
    await page.waitForSelector('.opblock-tag');
    const tags = await page.$$eval('.opblock-tag', (found) =>
      found.map((tag) => tag.getAttribute('data-tag')),
    );
    expect(tags).toContain('Restaurant');
    expect(tags).toContain('User');
    expect(await page.textContent('.information-container')).toContain('$containsi');
    expect(faults).toEqual([]);
  });

  test('sends a deep filter with populate and shows the answer', async () => {
    const { url, status, body } = await tryOperation('Restaurant', 'listRestaurants', async (operation) => {
      const parameter = (name: string) => operation.locator(`tr[data-param-name="${name}"] textarea`);
      await parameter('filters').fill('{"city":{"name":{"$eq":"Lisbon"}}}');
      await parameter('populate').fill('{"city":{"fields":["name"]}}');
    });
    expect([...url.searchParams.keys()]).toContain('filters[city][name][$eq]');
    expect(status).toBe('200');
    const cities = (body.data as { city: { name: string } }[]).map(({ city }) => city.name);
    expect(cities.length).toBeGreaterThan(0);
    expect(new Set(cities)).toEqual(new Set(['Lisbon']));
    expect(body).toEqual(await (await fetch(url)).json());
    expect(faults).toEqual([]);
  });

  test('sends the example of a body, which creates an entry', async () => {
    const { status, body } = await tryOperation('Cuisine', 'createCuisine', async () => {});
    expect(status).toBe('201');
    const stored = await fetch(`${server.url}/api/cuisines/${body.data.documentId}`);
    expect(await stored.json()).toEqual(body);
    expect(faults).toEqual([]);
  });

  test('sends requests only to the server', () => {
    expect([...hosts]).toEqual([new URL(server.url).host]);
  });
});
