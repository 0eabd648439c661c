import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, openConsole, REACTS } from '../support/console-page.ts';
import { faultsOf } from '../support/instant-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const PROBE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
const PICTURE = join(import.meta.dirname, '../../docs/console/overview-phone.png');
const WHOLE =
  'status=draft&populate[logo]=true&populate[gallery]=true&populate[address][populate][geo]=true&populate[hours]=true&populate[sections][on][blocks.hero]=true&populate[sections][on][blocks.quote]=true&populate[category]=true&populate[tags]=true';

/** Values of an entry by the type of the attribute: what a person types, and what the API then answers. */
const VALUES: readonly (readonly [name: string, typed: string, answered: unknown])[] = [
  ['key', 'every-type', 'every-type'],
  ['name', 'Every type', 'Every type'],
  ['description', 'First line\nsecond line', 'First line\nsecond line'],
  ['story', '# Story\n\n**bold**', '# Story\n\n**bold**'],
  ['email', 'every@example.com', 'every@example.com'],
  ['slug', 'every-type', 'every-type'],
  ['kind', 'bistro', 'bistro'],
  ['stars', '3', 3],
  ['visits', '9007199254740993', '9007199254740993'],
  ['price', '12.5', 12.5],
  ['rating', '4.25', 4.25],
  ['open', 'true', true],
  ['foundedOn', '2001-02-03', '2001-02-03'],
  ['opensAt', '08:30:00', '08:30:00'],
  ['inspectedAt', '2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
  ['extra', '{"a": [1, null]}', { a: [1, null] }],
  ['secretPin', 'a secret', undefined],
  ['internalNote', 'for us only', undefined],
];

describe('editing in the console', longInBrowser('editing in the console in Chromium'), () => {
  let server: RunningServer;
  let shown: ConsolePage;
  let page: Page;
  let ask: Ask;

  beforeAll(async () => {
    process.env['TZ'] = 'UTC';
    server = await startServer();
    ask = createAsk(server.url);
    for (const [path, data] of [
      ['categories', { key: 'c1', name: PROBE }],
      ['tags', { key: 't1', name: 'one' }],
      ['tags', { key: 't2', name: 'two' }],
    ] as const)
      await ask(`/api/${path}`, { method: 'POST', body: { data } });
    shown = await openConsole(server.url);
    page = shown.page;
  }, 300_000);

  afterAll(async () => {
    await shown?.close();
    await server?.dispose();
  });

  const show = (link: string, drawn: string) => shown.show(link, drawn);
  const field = (path: string) => page.locator(`[id="field-${path}"]`);
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  async function enter(path: string, typed: string): Promise<void> {
    const tag = await field(path).evaluate((element) => element.tagName, undefined, REACTS);
    if (tag === 'SELECT') await field(path).selectOption(typed, REACTS);
    else await field(path).fill(typed, REACTS);
  }

  /** Links an entry with the search box of a relation. */
  async function link(attribute: string, words: string): Promise<void> {
    await field(attribute).getByRole('searchbox').fill(words, REACTS);
    await field(attribute)
      .getByRole('button', { name: `Add ${words}`, exact: true })
      .click(REACTS);
    await field(attribute).getByRole('link', { name: words, exact: true }).waitFor(REACTS);
  }

  async function saved(words: RegExp): Promise<void> {
    await page.locator('.save [role=status]', { hasText: words }).waitFor(REACTS);
  }

  async function entryByKey(query = WHOLE) {
    const { body } = await ask(`/api/restaurants?filters[key]=every-type&${query}`);
    return body.data[0];
  }

  test('an editor writes an entry of every attribute type, with files and components', {
    timeout: 300_000,
  }, async () => {
    await show('#/content/restaurants/_new', '.form');
    for (const [name, typed] of VALUES) await enter(name, typed);
    await button('Add a block to content').click();
    await page.getByLabel('Kind of content 1').selectOption('heading 2');
    await page.getByLabel('Text of content 1').fill('A **bold** [link](https://example.com)');
    await button('Choose or upload a file for logo').click();
    await page.setInputFiles('#upload', PICTURE);
    await field('logo').getByText('overview-phone.png').waitFor(REACTS);
    await button('Choose or upload a file for gallery').click();
    await page.locator('dialog .found button', { hasText: 'overview-phone.png' }).click(REACTS);
    await button('Add address to address').click();
    await enter('address.street', 'Main street');
    await button('Add geo to geo').click();
    await enter('address.geo.lat', '38.5');
    for (const [i, day] of ['mon', 'tue'].entries()) {
      await button('Add hours to hours').click();
      await enter(`hours.${i}.day`, day);
      await enter(`hours.${i}.opens`, '09:00:00');
    }
    await button('Move hours 2 up').click();
    await page.getByLabel('Component for sections').selectOption('blocks.quote');
    await button('Add to sections').click();
    await enter('sections.0.text', PROBE);
    await page.getByLabel('Component for sections').selectOption('blocks.hero');
    await button('Add to sections').click();
    await enter('sections.1.headline', 'A hero');
    await button('Move sections 2 up').click();
    await link('category', 'c1');
    await link('tags', 't1');
    await link('tags', 't2');
    expect(await shown.problems()).toEqual([]);
    await button('Save draft').click();
    await page.waitForURL(/\/edit$/, REACTS);
    const entry = await entryByKey();
    for (const [name, , answered] of VALUES) expect([name, entry[name]]).toEqual([name, answered]);
    expect(entry.content).toEqual([
      {
        type: 'heading',
        level: 2,
        children: [
          { type: 'text', text: 'A ' },
          { type: 'text', text: 'bold', bold: true },
          { type: 'text', text: ' ' },
          { type: 'link', url: 'https://example.com', children: [{ type: 'text', text: 'link' }] },
        ],
      },
    ]);
    expect([entry.logo.name, entry.gallery.length]).toEqual(['overview-phone.png', 1]);
    expect(entry.address).toMatchObject({ street: 'Main street', geo: { lat: 38.5 } });
    expect(entry.hours.map(({ day }: { day: string }) => day)).toEqual(['tue', 'mon']);
    expect(entry.sections).toMatchObject([{ headline: 'A hero' }, { text: PROBE }]);
    expect([entry.category.key, entry.tags.map(({ key }: { key: string }) => key)]).toEqual([
      'c1',
      ['t1', 't2'],
    ]);
    expect(entry.publishedAt).toBeNull();
    expect(await shown.problems()).toEqual([]);
  });

  test('an editor changes, saves and publishes an entry', { timeout: 300_000 }, async () => {
    const before = await entryByKey();
    await show(`#/content/restaurants/${before.documentId}/edit`, '.form');
    await enter('name', 'Every type, edited');
    await button('Remove t1').click();
    await button('Remove hours 1').click();
    await saved(/3 changed attributes/);
    await page.click('summary:has-text("How to send it")');
    const line = await page.locator('.send pre').first().textContent();
    expect(line).toContain('-X PUT');
    expect(line).not.toContain('secretPin');
    await button('Save and publish').click();
    await saved(/Published at/);
    const { body } = await ask(
      `/api/restaurants/${before.documentId}?populate[hours]=true&populate[tags]=true`,
    );
    expect(body.data).toMatchObject({
      name: 'Every type, edited',
      hours: [{ day: 'mon' }],
      tags: [{ key: 't2' }],
    });
    const after = await entryByKey();
    expect(after.content).toEqual(before.content);
    expect(after.sections).toEqual(before.sections);
  });

  test('a site developer sees every content type with its attributes, relations and locales', async () => {
    await show('#/content', '.all-types tbody tr');
    const { data } = (await ask('/api/content-type-builder/content-types')).body;
    const own = data.filter(({ plugin }: { plugin?: string }) => plugin === undefined);
    expect(await page.locator('.all-types tbody tr').count()).toBe(own.length);
    const cells = page.locator('.all-types tr', { has: page.getByRole('link', { name: 'article' }) });
    expect((await cells.first().locator('td').allTextContents()).slice(1, 4)).toEqual([
      ...['collection', 'yes', 'yes'],
    ]);
    expect(await shown.problems()).toEqual([]);
    await page.locator('.all-types').getByRole('link', { name: 'restaurant', exact: true }).first().click();
    await page.waitForSelector('.attributes tbody tr', REACTS);
    const { attributes } = own.find(
      ({ uid }: { uid: string }) => uid === 'api::restaurant.restaurant',
    ).schema;
    const names = await page.locator('.attributes tbody th').allTextContents();
    expect(names).toEqual(expect.arrayContaining([...Object.keys(attributes), 'secretPin', 'internalNote']));
    const row = async (name: string) =>
      page.locator('.attributes tr', { has: page.locator(`th:text-is("${name}")`) }).locator('td');
    expect(await (await row('key')).allTextContents()).toEqual(['string', '', 'required, unique']);
    expect((await (await row('kind')).allTextContents())[2]).toContain('one of bistro, diner');
    expect((await (await row('sections')).allTextContents())[0]).toBe('dynamic zone');
    expect(await shown.problems()).toEqual([]);
    await (await row('category')).getByRole('link').click();
    await page.waitForSelector('h1:text-is("category")', REACTS);
  });

  test('a site developer compares two versions word by word, and restores the earlier one', async () => {
    const { documentId } = await entryByKey();
    await show(`#/content/restaurants/${documentId}/history`, '.versions tbody tr');
    const { data } = (await ask(`/api/restaurants/${documentId}/versions`)).body;
    expect(await page.locator('.versions tbody tr').count()).toBe(data.length);
    expect(await page.locator('.versions .names').allTextContents()).toEqual(
      data.map(({ changed }: { changed: string[] | null }) => (changed ?? []).join(', ')),
    );
    const oldest = data.at(-1).id;
    await page.getByLabel(`Compare from ${oldest},`).check(REACTS);
    await page.waitForSelector('.diff dl > div', REACTS);
    const { changed } = (await ask(`/api/restaurants/${documentId}/versions/${oldest}/diff`)).body.data;
    expect(await page.locator('.diff dt').allTextContents()).toEqual(
      changed.map(({ path }: { path: string }) => path),
    );
    const name = page.locator('.diff dl > div', { has: page.locator('dt code:text-is("name")') });
    expect(await name.locator('dd').textContent()).toBe('Every type, edited');
    expect(await name.locator('ins').textContent()).toBe(', edited');
    expect(await shown.problems()).toEqual([]);
    await button(`Show ${oldest}`).click();
    await page.locator('.diff table', { hasText: 'A hero' }).waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
    await button(`Restore ${oldest}`).click();
    await page.waitForSelector('.notice:has-text("Restored")', REACTS);
    const draft = await entryByKey();
    expect([draft.name, draft.hours.length, draft.tags.length]).toEqual(['Every type', 2, 2]);
    expect((await ask(`/api/restaurants/${documentId}`)).body.data.name).toBe('Every type, edited');
  });

  test('a search developer sees where words match, counts values, and filters by one', async () => {
    await show('#/content/restaurants?q=second', '.matches mark');
    expect(await page.locator('.matches mark').allTextContents()).toEqual(['second']);
    await page.click('summary:has-text("Facets")');
    await page.locator('.facet-lists').getByRole('button', { name: 'bistro', exact: true }).click(REACTS);
    await page.waitForSelector('code.path:has-text("[kind][$eq]=bistro")', REACTS);
    await page.waitForSelector('td a:text-is("every-type")', REACTS);
    expect(await shown.problems()).toEqual([]);
  });

  test('a site developer opens an entry with its relations, pictures and blocks', async () => {
    const { documentId, logo } = await entryByKey();
    await show(`#/content/restaurants/${documentId}`, '.prose a[href="https://example.com"]');
    expect(await page.locator('.prose strong').first().textContent()).toBe('bold');
    const row = (name: string) =>
      page.locator('.values tr', { has: page.locator('th', { hasText: new RegExp(`^${name}`) }) });
    await row('logo').locator('.picture img').first().waitFor(REACTS);
    await expect
      .poll(
        () => page.evaluate<number>("document.querySelector('.values .picture img').naturalWidth"),
        REACTS,
      )
      .toBeGreaterThan(0);
    expect(await row('logo').locator('.picture span').first().textContent()).toBe(logo.name);
    await row('category').getByRole('link', { name: 'c1', exact: true }).first().click();
    await page.waitForSelector('.values td:text-is("c1"), .values .whole:text-is("c1")', REACTS);
    const { data } = (await ask('/api/categories?filters[key]=c1')).body;
    await show(`#/content/categories/${data[0].documentId}`, '.linking');
    await page.click('summary:has-text("Who links here")');
    await page.locator('.linking').getByRole('link', { name: 'every-type', exact: true }).waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
  });

  test('an editor finds each error at its field', async () => {
    const { documentId } = await entryByKey();
    await show(`#/content/restaurants/${documentId}/edit`, '.form');
    await enter('stars', 'many');
    await button('Save draft').click();
    await field('stars').and(page.locator('[aria-invalid=true]')).waitFor(REACTS);
    await enter('stars', '4');
    await enter('email', 'no address');
    await enter('key', '');
    await button('Save and publish').click();
    await field('email').and(page.locator('[aria-invalid=true]')).waitFor(REACTS);
    expect(await page.locator('[id="field-email-error"]').textContent()).toBe('email must be a valid email');
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert');
    expect(await shown.problems()).toEqual([]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').getAttribute('id')).toMatch(/^field-(key|email)$/);
    expect((await entryByKey()).stars).toBe(3);
    await show('#/content', '.all-types');
  });

  test('an editor learns that somebody else has saved, and keeps what they changed', {
    timeout: 120_000,
  }, async () => {
    const { documentId } = await entryByKey();
    await show(`#/content/restaurants/${documentId}/edit`, '.form');
    await enter('name', 'Mine');
    const path = `/api/restaurants/${documentId}?status=draft`;
    await ask(path, { method: 'PUT', body: { data: { price: 99 } } });
    await button('Save draft').click();
    const warning = page.locator('.notice.warn');
    await warning.waitFor(REACTS);
    expect(await warning.textContent()).toMatch(/They changed price\. A save keeps their values\./);
    expect((await entryByKey()).name).not.toBe('Mine');
    await button('Save mine anyway').click();
    await saved(/Saved at/);
    expect(await entryByKey()).toMatchObject({ name: 'Mine', price: 99 });
  });

  test('an editor discards changes, unpublishes, publishes, deletes and restores an entry', {
    timeout: 120_000,
  }, async () => {
    const { documentId } = await entryByKey();
    await show(`#/content/restaurants/${documentId}`, '.badge.modified');
    expect(await shown.problems()).toEqual([]);
    await button('Discard changes').click();
    await page.waitForSelector('h1 .badge:text-is("published")', REACTS);
    expect((await entryByKey()).name).toBe('Every type, edited');
    await button('Unpublish').click();
    await page.waitForSelector('h1 .badge:text-is("draft")', REACTS);
    expect((await ask(`/api/restaurants/${documentId}`)).status).toBe(404);
    await button('Publish').click();
    await page.waitForSelector('h1 .badge:text-is("published")', REACTS);
    expect((await ask(`/api/restaurants/${documentId}`)).status).toBe(200);
    await button('Delete').click();
    await page.waitForSelector('dialog[open]', REACTS);
    expect(await shown.problems()).toEqual([]);
    expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
    await page.fill('#confirm', 'every-type');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/content\/restaurants$/, REACTS);
    await expect
      .poll(async () => (await ask(`/api/restaurants/${documentId}?status=draft`)).status)
      .toBe(404);
    await show('#/content/restaurants/_deleted', 'td a');
    expect(await shown.problems()).toEqual([]);
    await button('Restore every-type').click();
    await page.waitForSelector('.notice:has-text("Restored")', REACTS);
    expect(await entryByKey()).toMatchObject({ documentId, name: 'Every type, edited', stars: 3 });
  });

  test('an entry whose name has a line break is deleted by its name', { timeout: 400_000 }, async () => {
    const created = await ask('/api/tags', { method: 'POST', body: { data: { key: 'two\nlines' } } });
    await show(`#/content/tags/${created.body.data.documentId}`, '.values td');
    await button('Delete').click();
    await page.waitForSelector('dialog[open]', REACTS);
    await page.fill('#confirm', 'twolines');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/content\/tags$/, REACTS);
    expect((await ask(`/api/tags/${created.body.data.documentId}`)).status).toBe(404);
  });

  test('an editor sees the content of another time', { timeout: 400_000 }, async () => {
    const { body, headers } = await ask('/api/tags', {
      method: 'POST',
      body: { data: { key: 'p', name: 'before' } },
    });
    const { documentId } = body.data;
    await ask(`/api/tags/${documentId}`, { method: 'PUT', body: { data: { name: 'after' } } });
    await page.goto(`${server.url}/_varve/#/content/tags?asOf=${headers.get('varve-position')}`);
    // The process that opens the past has a low priority.
    await page.waitForSelector('td:text-is("before")', { timeout: 240_000 });
    expect(await page.locator('.past').textContent()).toContain('Nothing can be changed here');
    expect(await page.locator('a.button').count()).toBe(0);
    expect(await shown.problems()).toEqual([]);
    await page.getByRole('link', { name: 'p', exact: true }).click();
    await page.waitForSelector('.values .whole:text-is("before")', REACTS);
    expect(await page.locator('.actions, .tabs a:text-is("Edit")').count()).toBe(0);
    await button('Back to now').click();
    await page.waitForSelector('.values .whole:text-is("after")', REACTS);
    expect(await page.locator('.tabs a:text-is("Edit")').count()).toBe(1);
    await page.locator('.past summary').click();
    await page.locator('.past input[type=range]').fill(headers.get('varve-position') ?? '', REACTS);
    await page.waitForSelector('.values .whole:text-is("before")', { timeout: 240_000 });
    await button('Back to now').click();
    await page.waitForSelector('.values .whole:text-is("after")', REACTS);
    await page.locator('.past summary').click();
    await page.locator('.past input[name=moment]').fill('2001-02-03T04:05:06', REACTS);
    await page.locator('.past').getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/asOf=2001-02-03T04%3A05%3A06/, REACTS);
    await page.locator('[role=alert], h1:text-matches("no such entry")').first().waitFor(REACTS);
    await button('Back to now').click();
  });

  test('a site developer reads entries in a table, by world and locale', { timeout: 120_000 }, async () => {
    const { body } = await ask('/api/articles', {
      method: 'POST',
      body: { data: { key: 'w1', title: 'As published', code: 'w' } },
    });
    const path = `/api/articles/${body.data.documentId}`;
    await ask(`${path}?status=draft`, { method: 'PUT', body: { data: { title: 'As drafted' } } });
    await ask(`${path}?locale=fr`, { method: 'PUT', body: { data: { title: 'En français' } } });
    await show('#/content/articles', 'td:text-is("As drafted")');
    await page.getByLabel('World').selectOption('published', REACTS);
    await page.waitForSelector('td:text-is("As published")', REACTS);
    expect(await page.locator('td:text-is("As drafted")').count()).toBe(0);
    await page.getByLabel('Locale').fill('fr');
    await page.keyboard.press('Enter');
    await page.waitForSelector('td:text-is("En français")', REACTS);
    expect(await page.locator('td:text-is("As published")').count()).toBe(0);
  });

  test('an editor writes another locale of an entry', {
    timeout: 120_000,
  }, async () => {
    const { body } = await ask('/api/articles', {
      method: 'POST',
      body: { data: { key: 'a1', title: 'English', code: 'shared' } },
    });
    await show(`#/content/articles/${body.data.documentId}/edit`, '.form');
    await page.locator('input[list=locales]').fill('fr');
    await page.keyboard.press('Enter');
    await page.waitForURL(/locale=fr/, REACTS);
    await expect
      .poll(
        () =>
          field('title')
            .inputValue()
            .catch(() => 'loading'),
        REACTS,
      )
      .toBe('');
    expect(await field('code').count()).toBe(0);
    await enter('title', 'Français');
    await button('Save draft').click();
    await saved(/Saved at/);
    const french = await ask(`/api/articles/${body.data.documentId}?status=draft&locale=fr`);
    expect(french.body.data).toMatchObject({ title: 'Français', code: 'shared' });
  });

  test('the keyboard alone creates an entry', { timeout: 120_000 }, async () => {
    await show('#/content/tags', 'a.button');
    await page.focus('a.button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.form', REACTS);
    await page.focus('.save button');
    // The button of the bar, then the first field.
    await page.keyboard.press('Tab');
    await page.keyboard.type('by-keyboard');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/edit$/, REACTS);
    expect((await ask('/api/tags?filters[key]=by-keyboard')).body.data).toHaveLength(1);
  });

  // The last test: its tokens end development mode.
  test('a token without a right sees neither a form nor buttons', { timeout: 120_000 }, async () => {
    const { documentId } = (await ask('/api/tags')).body.data[0];
    const full = await createTokenOver(ask, { name: 'all', type: 'full-access' });
    const reader = await createTokenOver(createAsk(server.url, full), {
      name: 'reader',
      type: 'custom',
      allow: ['tag.find', 'tag.findOne'],
    });
    const tab = await page.context().newPage();
    const its = faultsOf(tab);
    await tab.goto(`${server.url}/_varve/#/content/tags/${documentId}/edit`);
    await tab.waitForSelector('.sign-in form', REACTS);
    expect(await tab.locator('.form, .card table').count()).toBe(0);
    await tab.fill('#token', reader);
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('text=Your token may not change entries of this type', REACTS);
    expect(await tab.locator('.form, .tabs a:text-is("Edit")').count()).toBe(0);
    await tab.goto(`${server.url}/_varve/#/content/tags/_new`);
    await tab.waitForSelector('text=Your token may not create entries of this type', REACTS);
    await tab.goto(`${server.url}/_varve/#/content/tags/${documentId}`);
    await tab.waitForSelector('table.values', REACTS);
    expect(await tab.locator('.actions button, .past, .tabs a:text-is("History")').count()).toBe(0);
    await tab.goto(`${server.url}/_varve/#/content/tags/${documentId}/history`);
    await tab.waitForSelector('.bad:text-is("Not Found")', REACTS);
    expect(await tab.locator('.versions').count()).toBe(0);
    // The browser itself reports each refused request.
    expect(its.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
  });
});
