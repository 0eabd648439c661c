import { execFileSync } from 'node:child_process';
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
    ['#/content', '.all-types tbody tr'],
    ['#/content/restaurants/_type', '.attributes tbody tr'],
    ['#/query?request=%2Fapi%2Frestaurants%3Fsearch%3Dcasa&plan=true', '.found-words tbody tr'],
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

  test('an operator reads that all is right, and the way of a write to a reader', async () => {
    await show('#/overview', '.events tbody tr');
    const { data } = (await createAsk(server.url)('/_varve/state')).body;
    expect(await page.textContent('.sentence')).toContain(data.summary.text);
    expect(await page.textContent('.pipeline')).toContain(`position ${data.log.position}`);
    expect(await page.locator('.pipeline .stage').count()).toBe(2 + data.projections.length);
    expect(await page.textContent('.light[role=status]')).toBe('live');
  });

  test('a search developer reads rates and durations of the last hour', async () => {
    await show('#/overview', '.events tbody tr');
    // The second sample comes after twenty seconds.
    await page.waitForSelector('.plot canvas', WAIT);
    expect(await page.locator('.plot canvas').count()).toBe(4);
    const shown = page.locator('.plot', { hasText: 'Duration of reads, ms' }).locator('[role=img]');
    const said = async () => /p50 (\S+), p99 (\S+)$/.exec((await shown.getAttribute('aria-label')) ?? '');
    await expect.poll(async () => Number((await said())?.[2]), WAIT).toBeGreaterThan(0);
    const { data } = (await createAsk(server.url)('/_varve/activity')).body;
    const p99s = data.map(({ readP99 }: { readP99: number | null }) => Number(readP99).toPrecision(3));
    expect(p99s.map(Number)).toContain(Number((await said())?.[2]?.replaceAll(',', '')));
  });

  test('an operator sees each process, its role and whether it is ready', async () => {
    await show('#/overview', '.events tbody tr');
    const { processes } = (await createAsk(server.url)('/_varve/state')).body.data;
    const rows = page.locator('[aria-label=Processes] tbody tr');
    expect(await rows.count()).toBe(processes.length);
    const [{ role, pid, host, version, epoch }] = processes;
    const text = await rows.first().textContent();
    for (const part of [`${role} ${pid} on ${host}`, version, `leader · epoch ${epoch}`, 'ready'])
      expect(text).toContain(part);
  });

  test('an operator sees an event on the overview as it is written', async () => {
    await show('#/overview', '.events tbody tr');
    const made = await createAsk(server.url)('/api/cuisines', {
      method: 'POST',
      body: { data: { name: 'Georgian', slug: 'georgian' } },
    });
    const row = page.locator('.events tbody tr', { hasText: made.body.data.documentId });
    await row.first().waitFor(WAIT);
    expect(await row.first().textContent()).toContain('Cuisine');
  });

  test('a site developer builds a query by clicks, and finds what the API finds', async () => {
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

  test('a list does not wait for the counts of the types', async () => {
    const tab = await browser.context.newPage();
    const debugged = await browser.context.newCDPSession(tab);
    const priorities = new Map<string, string>();
    await debugged.send('Network.enable');
    debugged.on('Network.requestWillBeSent', ({ request }) => {
      priorities.set(decodeURIComponent(request.url), request.initialPriority);
    });
    await tab.goto(`${server.url}/_varve/#/content/restaurants`);
    await tab.waitForSelector('[aria-label=Entries] td a', WAIT);
    const of = (words: string) =>
      [...priorities].flatMap(([url, priority]) => (url.includes(words) ? [priority] : []));
    expect(new Set(of('pageSize]=1&'))).toEqual(new Set(['Low']));
    expect(of('pageSize]=25')).toEqual(['High']);
    await tab.close();
  });

  test('a site developer sees how a draft differs from the published entry', async () => {
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

  test('a site developer sends a request, and sees its answer, its plan and how to send it', async () => {
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

  describe('the search', () => {
    const TYPE = 'api::restaurant.restaurant';

    /** Sends a request in the part Query, by hand, and returns its answer. */
    async function send(method: string, path: string, body?: object) {
      // Otherwise the answer before is still there.
      await page.goto('about:blank');
      await show('#/query', '#request');
      await page.selectOption('select[name=method]', method);
      await page.fill('#request', path);
      if (body !== undefined) await page.fill('#body', JSON.stringify(body));
      await page.click('button:text-is("Send")');
      await page.waitForSelector('.answer pre.body', WAIT);
      return JSON.parse((await page.textContent('.answer pre.body')) ?? '');
    }

    async function searchFor(words: string): Promise<void> {
      await show('#/content/restaurants', 'td a');
      await page.fill('input[name=q]', words);
      await page.keyboard.press('Enter');
      await page.waitForSelector('.matches mark', WAIT);
    }

    const foundNames = () => page.locator('main tbody td:first-child > a').allTextContents();

    test('a search developer sees why an entry is a hit', async () => {
      await searchFor('the taberna');
      expect(await foundNames()).toEqual(['Taberna do Rio']);
      await page.click('a:text-is("Why these hits, in Query")');
      await page.waitForSelector('.found-words tbody td', WAIT);
      const cells = page.locator('.found-words tbody tr:has(td)');
      expect(await cells.first().locator('td').allTextContents()).toEqual([
        ...['', 'taberna', 'taberna', 'exact', 'name', '2', '0'],
      ]);
      const path = new URLSearchParams(page.url().split('?')[1]).get('request');
      const { body } = await createAsk(server.url)(`${path}&explain=true`);
      const [hit] = body.meta.explain.search.hits;
      expect(await cells.count()).toBe(hit.words.length);
      expect(await page.textContent('.found-words th[scope=rowgroup]')).toContain(hit.documentId);
      await page.locator('.answer li', { hasText: 'because they are everywhere: the' }).waitFor(WAIT);
      expect(await violations()).toEqual([]);
    });

    test('a search developer sees as what a mistyped word was read', async () => {
      await searchFor('tabrena');
      await page.click('a:text-is("Why these hits, in Query")');
      await page.locator('.answer li', { hasText: '“tabrena” was read as “taberna”' }).waitFor(WAIT);
      const row = page.locator('.found-words tbody tr:has(td)').first();
      expect(await row.locator('td').allTextContents()).toEqual([
        ...['', 'tabrena', 'taberna', 'typo', 'name', '2', '1'],
      ]);
    });

    test('a search developer sets synonyms, and finds entries by them', async () => {
      const path = `/_varve/synonyms/${TYPE}`;
      await send('PUT', path, { data: { en: [['taberna', 'speakeasy']] } });
      await searchFor('speakeasy');
      expect(await foundNames()).toEqual(['Taberna do Rio']);
      await page.click('a:text-is("Why these hits, in Query")');
      await page.locator('.found-words td:text-is("synonym")').first().waitFor(WAIT);
      await send('PUT', path, { data: {} });
      expect((await createAsk(server.url)('/_varve/synonyms')).body.data).toEqual({});
    });

    test('a search developer tries a rule before it counts, and then stores it', async () => {
      const ask = createAsk(server.url);
      const names = ({ data }: { readonly data: readonly { readonly name: string }[] }) =>
        data.map(({ name }) => name);
      const searched = async () => names((await ask('/api/restaurants?search=casa')).body);
      const [first, second] = (await ask('/api/restaurants?search=casa')).body.data;
      const rules = [{ when: 'casa', pin: [second.documentId] }];
      const path = `/_varve/rules/${TYPE}`;
      const tried = await send('POST', `${path}/preview`, { data: { search: 'casa', rules } });
      expect(names(tried)).toEqual([second.name, first.name]);
      expect(await searched()).toEqual([first.name, second.name]);
      await send('PUT', path, { data: rules });
      await searchFor('casa');
      expect(await foundNames()).toEqual([second.name, first.name]);
      await send('PUT', path, { data: [] });
      expect(await searched()).toEqual([first.name, second.name]);
    });

    test('a search developer reads why a search was refused', async () => {
      const { error } = await send('GET', '/api/restaurants?search=casa&facets=description');
      expect(error.details).toMatchObject({ param: 'facets', found: 'description' });
      expect(await page.textContent('.answer [role=status]')).toContain(`400`);
      expect(await page.textContent('.answer [role=status] .bad:last-child')).toBe(error.message);
    });

    test('a search developer takes the request of a search away as curl', async () => {
      await searchFor('casa');
      await page.click('summary:text-is("How to send it")');
      const line = (await page.locator('.send pre').first().textContent()) ?? '';
      const { data } = JSON.parse(execFileSync('bash', ['-c', `${line} --silent`], { encoding: 'utf8' }));
      expect(data.map(({ name }: { name: string }) => name)).toEqual(await foundNames());
    });

    test('a search developer opens the search page of this content', async () => {
      await show('#/overview', '#types');
      await page.click('main a:text-is("Search page")');
      await page.waitForSelector('.ais-Hits-item', WAIT);
      expect(await page.locator('.ais-Hits-item').count()).toBeGreaterThan(1);
    });
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
