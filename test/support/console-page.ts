import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { type Browser, openBrowser } from './chromium.ts';
import { faultsOf } from './instant-page.ts';

/** Timeout for a page's reaction, which takes longer on a busy machine. */
export const REACTS = { timeout: 60_000 };

/** A value that would run a script if a page showed it as markup. */
export const MARKUP = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';

/** A page of the console in a browser. */
export type ConsolePage = {
  readonly page: Page;
  /** Opens a part, and waits for what it shows. */
  show(link: string, drawn: string): Promise<void>;
  /** Returns what axe-core finds in light and dark, what does not fit on a phone, errors of the browser and scripts that have run. */
  problems(): Promise<readonly string[]>;
  /** Types the name that a dialog asks for, and confirms with the keyboard. */
  confirm(name: string): Promise<void>;
  card(label: string): Locator;
  close(): Promise<void>;
};

const EXPECTED = /status of 4\d\d|ERR_INCOMPLETE_CHUNKED|_varve\/(?!console)\S* failed$/;
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Opens the console of a server in a browser of its own. */
export async function openConsole(url: string): Promise<ConsolePage> {
  const browser: Browser = await openBrowser();
  const page = await browser.context.newPage();
  const faults = faultsOf(page);
  return {
    page,
    async show(link, drawn) {
      await page.goto(`${url}/_varve/${link}`);
      await page.waitForSelector(drawn, REACTS);
    },
    async problems() {
      // The browser reports each refused request, a stream that a process cut off at its end, and a request as failed that a newer one
      // replaced.
      const found = faults.filter((fault) => !EXPECTED.test(fault));
      if (await page.evaluate(() => 'hit' in globalThis)) found.push('a script of the content has run');
      // The policy of the page keeps such a script from running.
      if ((await page.locator('[onerror], [href^="javascript:" i], body script:not([src])').count()) > 0)
        found.push('markup of the content is in the page');
      return [...found, ...(await violations(page)), ...(await overflow(page))];
    },
    async confirm(name) {
      await page.waitForSelector('dialog[open] input', REACTS);
      await page.locator('dialog[open] input').fill(name, REACTS);
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog', { state: 'detached', ...REACTS });
    },
    card: (label) => page.locator(`section[aria-label="${label}"]`),
    close: browser.close,
  };
}

async function violations(page: Page): Promise<readonly string[]> {
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

/** Tables scroll in a box of their own, so that a phone shows the rest without scrolling sideways. */
async function overflow(page: Page): Promise<readonly string[]> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  if (size !== null) await page.setViewportSize(size);
  return width <= 390 ? [] : [`the page is ${width} px wide on a phone`];
}
