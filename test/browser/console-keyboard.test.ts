import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, openConsole, REACTS } from '../support/console-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** More stops than a part of the small site has. A trap would have as many. */
const MOST_STOPS = 300;

/** Names what has the focus. `index`: its place in the document. */
type Stop = { readonly index: number; readonly name: string; readonly isVisible: boolean };

const STOP = `() => {
  const element = document.activeElement;
  if (element === document.body) return undefined;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  const { width, height } = element.getBoundingClientRect();
  const isMarked = (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  return {
    index: [...document.querySelectorAll('*')].indexOf(element),
    name: element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40)),
    isVisible: width > 0 && height > 0 && isMarked,
  };
}`;

/** Returns what a mouse can use and no key has reached. */
const UNREACHED = `(reached) =>
  [...document.querySelectorAll('*')].flatMap((element, i) =>
    element.matches('main :is(a[href], button:enabled, select:enabled, summary, textarea:enabled)') &&
    element.checkVisibility() && !reached.includes(i) ? [element.outerHTML.slice(0, 100)] : [])`;

describe('the console by keyboard', longInBrowser('the console by keyboard'), () => {
  let server: RunningServer;
  let ask: Ask;
  let shown: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    server = await startServer();
    ask = createAsk(server.url);
    for (const key of ['one', 'two'])
      await ask('/api/tags', { method: 'POST', body: { data: { key, name: `${key} name` } } });
    shown = await openConsole(server.url);
    page = shown.page;
  }, 300_000);

  afterAll(async () => {
    await shown?.close();
    await server?.dispose();
  });

  /** Returns what has the focus; undefined: the document itself, before the first stop and after the last one. */
  const stop = () => page.evaluate<Stop | undefined>(`(${STOP})()`);

  /** Returns all stops of a part, from the start of the document to its end. */
  async function walk(): Promise<readonly Stop[]> {
    const stops: Stop[] = [];
    while (stops.length < MOST_STOPS) {
      await page.keyboard.press('Tab');
      const found = await stop();
      // The browser continues at the start of the page, at once or after the document itself.
      if (found === undefined || (stops.length > 1 && found.index === stops[0]?.index)) return stops;
      stops.push(found);
    }
    return stops;
  }

  /** Tabs until an element has the focus. */
  async function tabTo(target: Locator): Promise<void> {
    await target.waitFor(REACTS);
    for (let i = 0; i < MOST_STOPS; i++) {
      if ((await target.and(page.locator(':focus')).count()) > 0) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`no key reaches ${target}`);
  }

  async function press(target: Locator, key = 'Enter'): Promise<void> {
    await tabTo(target);
    await page.keyboard.press(key);
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true });

  const PARTS: readonly (readonly [link: string, drawn: string])[] = [
    ['#/overview', '.events tbody tr'],
    ['#/content/tags', 'main td a'],
    ['#/query?request=%2Fapi%2Ftags', '.answer pre.body'],
    ['#/projections', '.generations tbody tr'],
    ['#/log', '.events tbody tr'],
    ['#/releases', 'section[aria-label=Releases] p.empty'],
    ['#/erasures', 'section[aria-label=Erasures] p.empty'],
    ['#/delivery', 'section[aria-label=Webhooks] p.empty'],
    ['#/backup', 'section[aria-label="Backup and export"] button'],
    ['#/settings', '.settings tbody tr'],
  ];

  test.each(PARTS)(
    'reaches all of %s in its order, shows where it is, and leaves',
    {
      timeout: 300_000,
    },
    async (part, drawn) => {
      await shown.show(part, drawn);
      // Otherwise the first key continues where the part before was left.
      await page.reload();
      await page.waitForSelector(drawn, REACTS);
      const stops = await walk();
      expect(stops.length).toBeGreaterThan(10);
      expect(stops.length).toBeLessThan(MOST_STOPS);
      expect(stops[0]?.name).toBe('A Skip to the content');
      expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([]);
      const order = stops.map(({ index }) => index);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      const unreached = await page.evaluate<readonly string[]>(`(${UNREACHED})(${JSON.stringify(order)})`);
      expect(unreached).toEqual([]);
    },
  );

  test('edits, compares and restores an entry', { timeout: 300_000 }, async () => {
    await shown.show('#/overview', '.events tbody tr');
    await press(link('Content'));
    await press(page.locator('nav[aria-label="Content types"] a[href="#/content/tags"]'));
    await press(link('one'));
    await press(link('Edit'));
    await tabTo(page.locator('[id="field-name"]'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('changed by keys');
    await page.keyboard.press('Enter');
    await page.locator('.save [role=status]', { hasText: /Saved|Published/ }).waitFor(REACTS);
    await press(link('History'));
    const versions = page.locator('.versions tbody tr');
    await versions.first().waitFor(REACTS);
    // Arrow keys choose another version to compare with.
    await tabTo(page.locator('.versions input[name=from]').first());
    await page.keyboard.press('ArrowDown');
    await page.locator('.diff').waitFor(REACTS);
    await press(page.locator('.versions button', { hasText: 'Restore' }).last());
    await page.waitForSelector('.notice:has-text("Restored")', REACTS);
    const { data } = (await ask('/api/tags?status=draft&filters[key]=one')).body;
    expect(data[0].name).toBe('one name');
  });

  test('sorts a list, and opens a dialog that keeps the focus and gives it back', {
    timeout: 300_000,
  }, async () => {
    await shown.show('#/content/tags', 'main td a');
    await press(page.locator('main th button', { hasText: 'key' }));
    await page.waitForURL(/sort=key%3Aasc/, REACTS);
    await press(link('two'));
    await press(button('Delete'));
    await page.waitForSelector('dialog[open] input', REACTS);
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      const isInside = 'document.activeElement === document.body || document.activeElement.closest("dialog")';
      expect(await page.evaluate(`!!(${isInside})`)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached', ...REACTS });
    expect(await page.textContent(':focus')).toBe('Delete');
  });
});
