import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type Browser, longInBrowser, openBrowser } from '../support/chromium.ts';
import { faultsOf, servePage, serveScripts } from '../support/instant-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { javascriptPage, PRODUCTS, writeShop } from './widget-pages.ts';

/** Degrees of the products: they lie on a line from the equator to the north-east. */
const placeOf = (at: number) => ({ latitude: at, longitude: at * 2 });
const WAIT = { timeout: 30_000 };
const BOX = `w.searchBox({ container: '#more' })`;

describe('a shop with unmodified instantsearch.js', longInBrowser('a shop in Chromium'), () => {
  let server: RunningServer;
  let browser: Browser;
  const shop = writeShop();

  beforeAll(async () => {
    const file = join(shop, 'api/product/content-types/product/schema.json');
    const { attributes, ...schema } = JSON.parse(readFileSync(file, 'utf8')) as { attributes: object };
    const degrees = { type: 'decimal' };
    const geo = { location: { lat: 'latitude', lng: 'longitude' } };
    writeFileSync(
      file,
      JSON.stringify({
        ...schema,
        attributes: { ...attributes, latitude: degrees, longitude: degrees },
        pluginOptions: { varve: { search: { geo } } },
      }),
    );
    server = await startServer({ contentTypes: shop, arguments: ['--search-log-days', '2'] });
    const { data } = createApiClient(server.url);
    for (const [at, product] of PRODUCTS.entries())
      await data('POST', '/api/products', { data: { ...product, ...placeOf(at) } });
    browser = await openBrowser();
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await server?.dispose();
    rmSync(shop, { recursive: true, force: true });
  });

  async function open(widgets: string, options = ''): Promise<Page> {
    const served = await servePage(javascriptPage(new URL(server.url).host, widgets, options));
    const page = await browser.context.newPage();
    onTestFinished(async () => {
      await page.close();
      served.close();
    });
    await serveScripts(page);
    await page.goto(served.url);
    await page.waitForSelector('#hits .name');
    return page;
  }
  const names = async (page: Page) => (await page.locator('#hits .name').allTextContents()).sort();
  const namesOf = (shown: (at: number) => boolean) =>
    PRODUCTS.flatMap(({ name }, at) => (shown(at) ? [name] : [])).sort();

  it('restricts hits to a map by the connector of geoSearch, which shows where they are', async () => {
    // The widget itself draws the map of another company; the connector has all the rest of its code.
    const render = `({ items, refine, clearMapRefinement, isRefinedWithMap, position, sendEvent, ...others }) => {
      window.map = { items, refine, clearMapRefinement, isRefinedWithMap, others: Object.keys(others) };
    }`;
    const page = await open(`instantsearch.connectors.connectGeoSearch(${render})({})`);
    const faults = faultsOf(page);
    const shown = () => page.evaluate('window.map.items.map(({ name, _geoloc }) => [name, _geoloc])');
    expect(new Map((await shown()) as [string, object][]).get(PRODUCTS[3]?.name ?? '')).toEqual({
      lat: 3,
      lng: 6,
    });
    await page.evaluate(
      'window.map.refine({ northEast: { lat: 8, lng: 16 }, southWest: { lat: 4, lng: 1 } })',
    );
    const inside = namesOf((at) => at >= 4 && at <= 8);
    await expect.poll(() => names(page), WAIT).toEqual(inside);
    await expect.poll(async () => ((await shown()) as unknown[]).length, WAIT).toBe(inside.length);
    expect(await page.evaluate('window.map.isRefinedWithMap()')).toBe(true);
    await page.evaluate('window.map.clearMapRefinement()');
    await expect.poll(() => names(page), WAIT).toEqual(namesOf(() => true));
    expect(faults).toEqual([]);
  });

  it('shows the nearest products first', async () => {
    const page = await open(`w.configure({ aroundLatLng: '23,46', aroundRadius: 'all' })`);
    const first = async () => (await page.locator('#hits .name').allTextContents()).slice(0, 3);
    await expect.poll(first, WAIT).toEqual([23, 22, 21].map((at) => PRODUCTS[at]?.name));
  });

  it('counts clicks that the option insights sends', async () => {
    const { data } = createApiClient(server.url);
    await data('DELETE', '/_varve/searches');
    const page = await open(BOX, `insights: { insightsInitParams: { host: '${server.url}' } }`);
    const faults = faultsOf(page);
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/1/events')) sent.push(...JSON.parse(request.postData() ?? '{}').events);
    });
    await page.fill('.ais-SearchBox-input', 'velvet');
    const found = namesOf((at) => / of velvet /.test(PRODUCTS[at]?.description ?? ''));
    await expect.poll(() => names(page), WAIT).toEqual(found);
    await page.locator('#hits .name').nth(1).click();
    const clicked = expect.objectContaining({
      eventType: 'click',
      positions: [2],
      queryID: expect.any(String),
    });
    await expect.poll(() => sent, WAIT).toContainEqual(clicked);
    await expect
      .poll(() => data('GET', '/_varve/searches?order=clicks'), WAIT)
      .toMatchObject([{ type: 'api::product.product', query: 'velvet', clicks: 1, position: 2, none: 0 }]);
    expect(faults).toEqual([]);
  });

  it('refuses relatedProducts with a sentence, and shows the hits all the same', async () => {
    const page = await open(`w.relatedProducts({ container: '#widget', objectIDs: ['x'] })`);
    await page.evaluate(
      `search.on('error', ({ error }) => { window.problem = error.message; }); search.refresh();`,
    );
    await expect.poll(() => page.evaluate('window.problem'), WAIT).toMatch('Varve recommends nothing');
    expect(await names(page)).toEqual(namesOf(() => true));
  });
});
