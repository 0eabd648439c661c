import { setTimeout as delay } from 'node:timers/promises';
import type { Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, MARKUP, openConsole, REACTS } from '../support/console-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { verifyWebhook } from '../support/standard-webhooks.ts';
import { type Received, type Receiver, startReceiver } from '../support/webhook-receiver.ts';

describe(
  'the console for those who deliver and admit',
  longInBrowser('delivery and access in the console'),
  () => {
    let server: RunningServer;
    let ask: Ask;
    let shown: ConsolePage;

    beforeAll(async () => {
      // No cache answers there.
      const more = [
        '--webhook-hold',
        '1',
        '--purge',
        'varnish=http://127.0.0.1:1/',
        '--cache-tags',
        'varnish',
      ];
      server = await startServer({ contentTypes: 'examples/restaurants', arguments: more });
      ask = createAsk(server.url);
      shown = await openConsole(server.url);
    }, 300_000);

    afterAll(async () => {
      await shown?.close();
      await server?.dispose();
    });

    test.each([
      ['content', '**/_varve/rights', '.types a'],
      ['projections', '**/_varve/operations/list-parked', '[aria-label="Parked documents"] p.empty'],
      ['log', '**/_varve/events?*', '.events tbody tr'],
      ['access', '**/api/users?*', '[aria-label=Users] p.empty'],
    ])('%s asks again what got no answer', async (part, requests, drawn) => {
      const page = await shown.page.context().newPage();
      await page.route(requests, (route) => route.abort());
      await page.goto(`${server.url}/_varve/#/${part}`);
      const problem = page.locator('main >> text=Failed to fetch');
      await problem.waitFor(REACTS);
      await page.unroute(requests);
      await problem.waitFor({ state: 'detached', ...REACTS });
      await page.locator(drawn).first().waitFor(REACTS);
      await page.close();
    });

    describe('delivery', () => {
      let receiver: Receiver;
      beforeAll(async () => {
        receiver = await startReceiver();
      });
      afterAll(() => receiver?.close());

      test('adds a webhook, and shows its secret once', async () => {
        await shown.show('#/delivery', 'section[aria-label=Webhooks] p.empty');
        const card = shown.card('Webhooks');
        await card.locator('summary:has-text("Add a webhook")').click();
        await card.locator('input[name=url]').fill(`${receiver.url}/hook`);
        await card.locator('input[name=name]').fill(MARKUP);
        await card.locator('input[name=allowPrivate]').check();
        await card.locator('button:text-is("Add")').click();
        const secret = await card.locator('.secret pre').textContent(REACTS);
        expect(secret).toMatch(/^whsec_/);
        await card.locator('.hooks tbody tr').waitFor(REACTS);
        expect(await shown.problems()).toEqual([]);
        await card.locator('button:has-text("I have stored it")').click();
        const { data: hooks } = (await ask('/_varve/webhooks')).body;
        expect(hooks).toMatchObject([{ name: MARKUP, url: `${receiver.url}/hook`, allowPrivate: true }]);
        expect(await shown.page.content()).not.toContain(secret);
      });

      test('a site developer tests and pauses a webhook, and reads what was sent', async () => {
        const card = shown.card('Webhooks');
        await card.locator('button:text-is("Test")').click();
        await card.locator('[role=status]:has-text("the receiver answered 200")').waitFor(REACTS);
        await card.locator('button:text-is("Pause")').click();
        await card.locator('button:text-is("Resume")').waitFor(REACTS);
        const data = { name: MARKUP, slug: 'delivered' };
        const made = await ask('/api/cuisines', { method: 'POST', body: { data } });
        const row = shown.page.locator('.deliveries tbody tr', { hasText: made.body.data.documentId });
        await row.locator('td:nth-child(5)', { hasText: 'waiting' }).waitFor(REACTS);
        await card.locator('button:text-is("Resume")').click();
        await row.locator('td:nth-child(5)', { hasText: 'delivered' }).waitFor(REACTS);
        await row.locator('summary').click();
        expect(JSON.parse((await row.locator('pre').textContent()) ?? '').entry.name).toBe(MARKUP);
        expect(await shown.problems()).toEqual([]);
      });

      test('reads deliveries without what was sent, and rarely while the log grows', async () => {
        const asked: string[] = [];
        const note = (request: Request) => {
          if (request.url().includes('/deliveries?')) asked.push(request.url());
        };
        shown.page.on('request', note);
        const started = Date.now();
        for (let n = 0; Date.now() < started + 6_000; n++) {
          await ask('/api/cuisines', { method: 'POST', body: { data: { name: `n${n}`, slug: `n${n}` } } });
          await delay(300);
        }
        const most = 1 + Math.floor((Date.now() - started) / 5_000);
        shown.page.off('request', note);
        expect(asked.length).toBeGreaterThan(0);
        expect(asked.length).toBeLessThanOrEqual(most);
        for (const url of asked) expect(url).toContain('bodies=false');
      });

      test('sends a delivery again, and those that were parked', async () => {
        const card = shown.card('Webhooks');
        const made = await ask('/api/cuisines', { method: 'POST', body: { data: { name: 'a', slug: 'a' } } });
        const { documentId } = made.body.data;
        const row = shown.page.locator('.deliveries tbody tr', { hasText: documentId });
        await row.locator('td:nth-child(5)', { hasText: 'delivered' }).waitFor(REACTS);
        await row.locator('button:text-is("Send again")').click();
        const count = () =>
          receiver.received.filter(({ json }) => json.entry?.documentId === documentId).length;
        await expect.poll(count, REACTS).toBe(2);
        receiver.answer(() => ({ status: 500 }));
        // A later change of the document parks the delivery that failed.
        for (const name of ['b', 'c'])
          await ask(`/api/cuisines/${documentId}`, { method: 'PUT', body: { data: { name } } });
        const parked = row.locator('td:nth-child(5)', { hasText: 'parked' });
        await parked.first().waitFor(REACTS);
        receiver.answer(() => ({ status: 200 }));
        await card.locator('button:text-is("Replay parked")').click();
        await card.locator('[role=status]', { hasText: /[1-9] deliveries are sent again/ }).waitFor(REACTS);
        await parked.first().waitFor({ state: 'detached', ...REACTS });
        expect(await shown.problems()).toEqual([]);
      });

      test('makes a new secret, which signs the next delivery', async () => {
        const card = shown.card('Webhooks');
        await card.locator('button:text-is("New secret")').click();
        await shown.confirm(MARKUP);
        const secret = (await card.locator('.secret pre').textContent(REACTS)) ?? '';
        await card.locator('button:has-text("I have stored it")').click();
        const before = receiver.received.length;
        await ask('/api/cuisines', { method: 'POST', body: { data: { name: 's', slug: 's' } } });
        const one = (await receiver.until(before + 1)).at(-1) as Received;
        expect(() => verifyWebhook(secret, one)).not.toThrow();
      });

      test('a site developer sees the cache tags of an answer, and changes that caches wait for', async () => {
        const request = encodeURIComponent('/api/cuisines?pagination[pageSize]=1');
        await shown.show(`#/query?request=${request}`, '.answer .headers');
        const { headers } = await ask('/api/cuisines?pagination[pageSize]=1');
        const tags = shown.page.locator('.answer .headers div', { hasText: 'xkey' }).locator('dd');
        expect(await tags.textContent()).toBe(headers.get('xkey'));
        await shown.show('#/delivery', 'section[aria-label=Purges] li');
        const line = shown.card('Purges').locator('li', { hasText: 'varnish' });
        await line.locator('.bad', { hasText: /[1-9]\d* changes wait/ }).waitFor(REACTS);
      });

      test('removes it by its name', async () => {
        const card = shown.card('Webhooks');
        await card.locator('button:text-is("Remove")').click();
        await shown.confirm(MARKUP);
        await card.locator('p.empty').waitFor(REACTS);
        expect((await ask('/_varve/webhooks')).body.data).toEqual([]);
        expect(await shown.card('Readers').textContent()).toContain('of this process');
      });
    });

    // The last tests: a token ends development mode.
    describe('access', () => {
      let full: Ask;

      async function signIn(token: string): Promise<void> {
        await shown.page.waitForSelector('.sign-in form', REACTS);
        await shown.page.fill('#token', token);
        await shown.page.keyboard.press('Enter');
        await shown.page.waitForSelector('header nav', REACTS);
      }

      test('shows rights as a matrix, and saves a role', async () => {
        const user = { username: MARKUP, email: 'ada@example.com', password: 'long password', role: 1 };
        expect((await ask('/api/users', { method: 'POST', body: user })).status).toBe(201);
        await shown.show('#/access', '.users tbody tr');
        expect(await shown.problems()).toEqual([]);
        const card = shown.card('Roles');
        await card.locator('input[aria-label="city find"]').check();
        await card.locator('button:has-text("Save role")').click();
        await card.locator('[role=status]:has-text("Save role: Done.")').waitFor(REACTS);
        const { data: roles } = (await ask('/_varve/roles')).body;
        const role = roles.find(({ type }: { type: string }) => type === 'authenticated');
        expect(role.allow).toEqual(['city.find']);
      });

      test('blocks and deletes a user', async () => {
        const row = shown.page.locator('.users tbody tr');
        await row.locator('button:text-is("Block")').click();
        await row.locator('button:text-is("Unblock")').waitFor(REACTS);
        expect((await ask('/api/users')).body).toMatchObject([{ username: MARKUP, blocked: true }]);
        await row.locator('button:text-is("Delete")').click();
        await shown.confirm(MARKUP);
        await shown.card('Users').locator('p.empty').waitFor(REACTS);
        expect((await ask('/api/users')).body).toEqual([]);
      });

      test('asks before public rights end development mode', async () => {
        const card = shown.card('Public rights');
        await card.locator('input[type=checkbox]').first().check();
        await card.locator('button:text-is("Save public rights")').click();
        await shown.page.locator('dialog[open] button:text-is("Keep it")').click();
        await card.locator('button:text-is("Reset")').click();
        expect((await ask('/_varve/public')).body.data).toMatchObject({ development: true });
      });

      test('creates a token, shows it once, and revokes another by its name', async () => {
        const card = shown.card('Tokens');
        await card.locator('summary:has-text("Create a token")').click();
        await card.locator('input[name=token-name]').fill('console');
        expect(await card.locator('select[name=token-type]').inputValue()).toBe('full-access');
        await card.locator('button:text-is("Create")').click();
        const secret = (await card.locator('.secret pre').textContent(REACTS)) ?? '';
        full = createAsk(server.url, secret);
        await createTokenOver(full, { name: 'site', type: 'custom', allow: ['city.find'] });
        expect((await ask('/_varve/tokens')).status).toBe(403);
        await shown.show('', '.sign-in form');
        await signIn(secret);
        await shown.page.click('nav a:has-text("Access")');
        expect(await card.locator('select[name=token-type]').inputValue(REACTS)).toBe('custom');
        await shown.page.locator('.tokens tbody tr', { hasText: 'site' }).locator('button').click();
        await shown.confirm('site');
        await shown.card('Tokens').locator('text=revoked').waitFor(REACTS);
        expect(await shown.page.content()).not.toContain(secret);
        const { data: tokens } = (await full('/_varve/tokens')).body;
        expect(tokens.map(({ status }: { status: string }) => status)).toEqual(['active', 'revoked']);
        expect(await shown.problems()).toEqual([]);
      });

      test('a site developer makes a token with the rights of a table', async () => {
        const card = shown.card('Tokens');
        await card.locator('summary:has-text("Create a token")').click();
        await card.locator('input[name=token-name]').fill('by matrix');
        const matrix = card.locator('[aria-label="Rights of the new token"]');
        await matrix.locator('input[aria-label="city find"]').check();
        await card.locator('button:text-is("Create")').click();
        const made = createAsk(server.url, (await card.locator('.secret pre').textContent(REACTS)) ?? '');
        expect((await made('/api/cities')).status).toBe(200);
        expect((await made('/api/cuisines')).status).toBe(403);
        await card.locator('button:has-text("I have stored it")').click();
      });

      test('saves the rights of callers without a token', async () => {
        const card = shown.card('Public rights');
        const statuses = async () => [(await ask('/api/cuisines')).status, (await ask('/api/cities')).status];
        for (const isAllowed of [true, false]) {
          await card.locator('input[aria-label="cuisine find"]').setChecked(isAllowed, REACTS);
          await card.locator('button:text-is("Save public rights")').click();
          await expect.poll(statuses, REACTS).toEqual([isAllowed ? 200 : 403, 403]);
          await card.locator('button:text-is("Reset")').waitFor({ state: 'detached', ...REACTS });
        }
      });

      test('a site developer signs in with a token, and sees what its caller sees', async () => {
        const token = await createTokenOver(full, { name: 'reader', type: 'custom', allow: ['city.find'] });
        await shown.page.click('text=Sign out');
        await signIn(token);
        const names = await shown.page.locator('nav[aria-label=Parts] a').allTextContents();
        for (const part of ['Overview', 'Projections', 'Log', 'Delivery', 'Backup', 'Access'])
          expect(names).not.toContain(part);
        for (const part of ['projections', 'log', 'delivery', 'backup', 'access']) {
          await shown.show(`#/${part}`, 'h1:has-text("There is no such part")');
          await shown.page.reload();
          await shown.page.waitForSelector('h1:has-text("There is no such part")', REACTS);
        }
        const reader = createAsk(server.url, token);
        for (const path of [
          'projections',
          'events',
          'events/1',
          'webhooks',
          'slow-queries',
          'searches',
          'streams',
          'tokens',
          'roles',
          'login',
          'possible-rights',
        ])
          expect((await reader(`/_varve/${path}`)).status, path).toBe(403);
      });

      test.each([
        { name: 'former reader', type: 'custom', allow: ['city.find'] },
        { name: 'former operator', type: 'full-access' },
      ] as const)('a page whose token was revoked asks for another one: $name', async (made) => {
        const token = await createTokenOver(full, made);
        await shown.page.evaluate(() => sessionStorage.clear());
        await shown.page.reload();
        await signIn(token);
        const { data: tokens } = (await full('/_varve/tokens')).body;
        const { id } = tokens.find(({ name }: { name: string }) => name === made.name);
        expect((await full(`/_varve/tokens/${id}`, { method: 'DELETE' })).status).toBe(204);
        await expect.poll(async () => (await createAsk(server.url, token)('/_varve/state')).status).toBe(401);
        await shown.page.click('nav a:text-is("Content")');
        await shown.page.waitForSelector('.sign-in [role=alert]', REACTS);
        expect(await shown.page.locator('header, table').count()).toBe(0);
      });
    });
  },
);
