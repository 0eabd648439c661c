import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, openConsole, REACTS } from '../support/console-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

/** More stops than a part of the small site has. A trap would have as many. */
const MOST_STOPS = 300;

/** Is there when all cards of the access part are drawn. */
const ACCESS = ['Public rights', 'Roles', 'Login']
  .map((label) => `:has(section[aria-label="${label}"] input[type=checkbox])`)
  .concat(':has(section[aria-label=Tokens] p.empty)')
  .join('');

/** Is there when an answer and the slow reads are drawn. */
const QUERY = 'main:has(section[aria-label="Slow reads"] :is(p.empty, table)) .answer pre.body';

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
    ['#/content', '.all-types tbody tr'],
    ['#/content/tags', 'main td a'],
    ['#/content/restaurants/_type', '.attributes tbody tr'],
    ['#/query?request=%2Fapi%2Ftags', QUERY],
    [
      '#/query?request=%2Fapi%2Ftags%3Fsearch%3Done&plan=true',
      QUERY.replace('.answer', '.answer:has(.found-words)'),
    ],
    ['#/projections', '.generations tbody tr'],
    ['#/log', '.events tbody tr'],
    ['#/releases', 'section[aria-label=Releases] p.empty'],
    ['#/erasures', 'section[aria-label=Erasures] p.empty'],
    ['#/delivery', 'section[aria-label=Webhooks] p.empty'],
    ['#/backup', 'section[aria-label="Backup and export"] button'],
    ['#/access', ACCESS],
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

  /** Types into a field that the keys reach. */
  async function write(target: Locator, text: string): Promise<void> {
    await tabTo(target);
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
  }

  /** Types the name that the open dialog asks for. Its field has the focus. */
  async function confirm(name: string): Promise<void> {
    await page.waitForSelector('dialog[open] input:focus');
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog', { state: 'detached' });
  }

  test('fills a form with components, moves them, and goes to the field that was refused', {
    timeout: 300_000,
  }, async () => {
    await shown.show('#/content/restaurants', 'main .row');
    await press(link('New entry'));
    await write(page.locator('[id="field-key"]'), 'by-keys');
    await write(page.locator('[id="field-email"]'), 'no address');
    for (const [i, day] of ['mon', 'tue'].entries()) {
      await press(button('Add hours to hours'));
      const field = page.locator(`[id="field-hours.${i}.day"]`);
      await tabTo(field);
      await page.keyboard.type(day);
    }
    await press(button('Move hours 2 up'));
    await press(button('Save and publish'));
    const refused = page.locator('.notice.wrong');
    await refused.and(page.locator(':focus')).waitFor();
    await press(refused.getByRole('button', { name: 'email', exact: true }));
    await page.locator('[id="field-email"]:focus').waitFor();
    await write(page.locator('[id="field-email"]'), 'keys@example.com');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/edit$/);
    const { data } = (await ask('/api/restaurants?status=draft&filters[key]=by-keys&populate[hours]=true'))
      .body;
    expect(data).toMatchObject([{ email: 'keys@example.com', hours: [{ day: 'tue' }, { day: 'mon' }] }]);
  });

  test('adds, tests, pauses and removes a webhook', { timeout: 300_000 }, async () => {
    const receiver: Receiver = await startReceiver();
    try {
      await shown.show('#/delivery', 'section[aria-label=Webhooks] p.empty');
      const card = shown.card('Webhooks');
      await press(card.locator('summary', { hasText: 'Add a webhook' }));
      await write(card.locator('input[name=url]'), `${receiver.url}/hook`);
      await write(card.locator('input[name=name]'), 'keys');
      await press(card.locator('input[name=allowPrivate]'), 'Space');
      await press(card.getByRole('button', { name: 'Add', exact: true }));
      await press(button('I have stored it'));
      await press(button('Test keys'));
      await card.locator('[role=status]', { hasText: 'the receiver answered 200' }).waitFor();
      expect(await page.getAttribute(':focus', 'aria-label')).toBe('Test keys');
      await press(button('Pause keys'));
      await button('Resume keys').waitFor();
      expect((await ask('/_varve/webhooks')).body.data).toMatchObject([{ status: 'paused' }]);
      await press(button('Remove keys'));
      await confirm('keys');
      await card.locator('p.empty').waitFor();
      expect((await ask('/_varve/webhooks')).body.data).toEqual([]);
    } finally {
      await receiver.close();
    }
  });

  test('begins a rebuild, pauses it, and continues it to its end', { timeout: 300_000 }, async () => {
    const keys = Array.from({ length: 200 }, (_, i) => `c${i}`);
    for (const key of keys) await ask('/api/categories', { method: 'POST', body: { data: { key } } });
    await shown.show('#/projections', '.generations tbody tr');
    const card = shown.card('Rebuild');
    await tabTo(card.locator('select[name=source]'));
    await page.keyboard.type('the log');
    // At this rate the events take some minutes.
    await write(card.locator('input[name=maxRate]'), '1');
    await page.keyboard.press('Enter');
    await press(button('Pause'));
    await press(button('Continue'));
    await card.locator('[role=status]', { hasText: 'Generation 2 serves now' }).waitFor();
    const { data: state } = (await ask('/_varve/state')).body;
    expect(state.generations).toMatchObject([
      { number: 1, state: 'kept' },
      { number: 2, state: 'live' },
    ]);
  });

  test('gives rights to a role, creates a token, signs in with it and revokes another', {
    timeout: 300_000,
  }, async () => {
    await shown.show('#/access', ACCESS);
    const roles = shown.card('Roles');
    await press(roles.getByLabel('tag find', { exact: true }), 'Space');
    await press(button('Save role'));
    await roles.locator('[role=status]', { hasText: 'Save role: Done.' }).waitFor();
    const tokens = shown.card('Tokens');
    await press(tokens.locator('summary', { hasText: 'Create a token' }));
    await write(tokens.locator('input[name=token-name]'), 'keys');
    await tabTo(tokens.locator('select[name=token-type]'));
    await page.keyboard.type('full');
    await press(button('Create'));
    const secret = (await tokens.locator('.secret pre').textContent()) ?? '';
    const full = createAsk(server.url, secret);
    const { data: stored } = (await full('/_varve/roles')).body;
    expect(stored.find(({ type }: { type: string }) => type === 'authenticated').allow).toContain('tag.find');
    await createTokenOver(full, { name: 'site', type: 'custom', allow: ['tag.find'] });
    await shown.show('', '.sign-in form');
    await write(page.locator('#token'), secret);
    await page.keyboard.press('Enter');
    await press(link('Access'));
    await press(button('Revoke site'));
    await confirm('site');
    await tokens.locator('tbody tr', { hasText: 'revoked' }).waitFor();
    const { data: left } = (await full('/_varve/tokens')).body;
    expect(left.map(({ status }: { status: string }) => status).toSorted()).toEqual(['active', 'revoked']);
  });
});
