import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, MARKUP, openConsole, REACTS } from '../support/console-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** Copies the examples, with an attribute that is not served and code that does not run. */
function copyProject(folder: string): void {
  cpSync('examples/restaurants', folder, { recursive: true });
  const file = join(folder, 'api/city/content-types/city/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  schema.attributes['a.b'] = { type: 'string' };
  schema.attributes.tone = { type: 'customField', customField: `plugin::${MARKUP}.tone` };
  writeFileSync(file, JSON.stringify(schema));
  const controllers = join(folder, 'api/city/controllers');
  mkdirSync(controllers);
  const code = "factories.createCoreController('api::city.city', () => ({ async find() { return []; } }))";
  writeFileSync(join(controllers, 'city.js'), `module.exports = ${code};`);
}

describe('the settings in the console', longInBrowser('settings in the console'), () => {
  let server: RunningServer;
  let shown: ConsolePage;
  const folder = mkdtempSync(join(tmpdir(), 'varve-settings-'));

  beforeAll(async () => {
    copyProject(join(folder, 'src'));
    server = await startServer({
      contentTypes: join(folder, 'src'),
      arguments: [
        '--max-offset',
        '4321',
        '--public-url',
        `https://example.com/${encodeURIComponent(MARKUP)}`,
      ],
      env: {
        VARVE_LOGIN: 'true',
        VARVE_MAIL: 'smtp://u:hidden-word@127.0.0.1:1',
        VARVE_MAIL_FROM: `${MARKUP}@example.com`,
      },
    });
    shown = await openConsole(server.url);
  }, 300_000);

  afterAll(async () => {
    await shown?.close();
    await server?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  test('an operator sees which settings are in force, and where they come from', async () => {
    await shown.show('#/settings', '.settings tbody tr');
    const row = shown.page.locator('.settings tr', { hasText: '--max-offset' });
    expect(await row.locator('td').allTextContents()).toEqual(expect.arrayContaining(['4321', 'option']));
    const text = await shown.page.content();
    expect(text).toContain('smtp://[hidden]@127.0.0.1:1');
    expect(text).not.toContain('hidden-word');
    expect(await shown.problems()).toEqual([]);
  });

  test('an operator sees what of the project is not served, and why', async () => {
    const { schemas, code } = (await createAsk(server.url)('/_varve/settings')).body.data;
    expect(schemas.length).toBeGreaterThanOrEqual(2);
    const rows = shown.card('Schemas').locator('.left-out tbody tr');
    expect(await rows.count()).toBe(schemas.length);
    for (const [i, { file, path, message, action }] of schemas.entries())
      expect(await rows.nth(i).locator('td').allTextContents()).toEqual([file, path, message, action]);
    expect(await shown.card('Schemas').textContent()).toContain('a.b');
    expect(await shown.card('Code').locator('li').allTextContents()).toEqual(code);
    expect(code.join()).toContain('controllers');
    await shown.show('#/overview', 'section:has(> h2:text-is("Not as in the project")) li');
    const own = shown.page.locator('section:has(> h2:text-is("Not as in the project")) li');
    expect(await own.count()).toBe(schemas.length + code.length);
    expect(await shown.problems()).toEqual([]);
    await shown.show('#/settings', '.settings tbody tr');
  });

  test('are found with the keyboard alone', async () => {
    await shown.page.focus('input[name=find-setting]');
    await shown.page.keyboard.type('webhook-timeout');
    await shown.page.locator('.settings tr', { hasText: '--webhook-timeout' }).waitFor(REACTS);
    expect(await shown.page.locator('.settings tbody td:first-child').count()).toBe(1);
    await shown.page.keyboard.press('Tab');
    await shown.page.keyboard.press('Space');
    await shown.page.fill('input[name=find-setting]', '');
    await shown.page.locator('.settings tr', { hasText: '--workers' }).waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
  });

  test('are asked for again once a hidden page is seen', async () => {
    const { page } = shown;
    let asked = 0;
    await page.route('**/_varve/settings*', (route) => {
      asked++;
      return route.abort();
    });
    const setVisibility = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })`,
      );
    await shown.show('#/types', 'h1');
    await shown.show('#/settings', '[role=alert]');
    await expect.poll(() => asked, REACTS).toBeGreaterThan(1);
    await setVisibility('hidden');
    const before = asked;
    await page.waitForTimeout(5_000);
    expect(asked - before).toBeLessThanOrEqual(1);
    await page.unroute('**/_varve/settings*');
    await setVisibility('visible');
    await page.locator('.settings tbody tr').first().waitFor(REACTS);
  });
});
