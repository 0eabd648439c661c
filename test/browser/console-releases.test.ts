import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, MARKUP, openConsole, REACTS } from '../support/console-page.ts';
import { draft, type ShownRelease, startArticles } from '../support/released-articles.ts';

describe('releases in the console', longInBrowser('releases in the console'), () => {
  let started: Awaited<ReturnType<typeof startArticles>>;
  let client: ApiClient;
  let shown: ConsolePage;
  let good: string;
  let bad: string;

  beforeAll(async () => {
    started = await startArticles();
    client = started.client;
    good = await draft(client, { title: MARKUP });
    bad = await draft(client, {});
    shown = await openConsole(started.server.url);
  }, 300_000);

  afterAll(async () => {
    await shown?.close();
    await started?.dispose();
  });

  async function stored(): Promise<ShownRelease> {
    const [release] = await client.data<readonly ShownRelease[]>('GET', '/_varve/releases');
    if (release === undefined) throw new Error('there is no release');
    return release;
  }

  test('an editor plans a release for a time in a time zone, by the keyboard alone', async () => {
    await shown.show('#/releases', 'section[aria-label=Releases] p.empty');
    expect(await shown.problems()).toEqual([]);
    const { page } = shown;
    await page.focus('input[name=release-name]');
    await page.keyboard.type(MARKUP);
    await page.fill('input[name=release-at]', '2031-12-24T08:00');
    await page.fill('input[name=release-zone]', 'Europe/Berlin');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.releases tbody tr').waitFor(REACTS);
    expect(await stored()).toMatchObject({
      name: MARKUP,
      scheduledAt: '2031-12-24T07:00:00.000Z',
      timezone: 'Europe/Berlin',
    });
    expect(await shown.problems()).toEqual([]);
  });

  test('an editor finds a release in the calendar', async () => {
    const { page } = shown;
    await page.click('nav[aria-label="Views of releases"] a:has-text("Calendar")');
    const day = page.locator('.calendar td', { hasText: MARKUP });
    await day.waitFor(REACTS);
    expect(await page.locator('section[aria-label=Releases] strong').textContent()).toContain('2031');
    expect(await shown.problems()).toEqual([]);
    await day.locator('a').click();
    await page.locator('section[aria-label=Entries] p.empty').first().waitFor(REACTS);
  });

  test('an editor fills a release, reads what blocks it, and publishes the rest', async () => {
    const { page } = shown;
    const entries = shown.card('Entries');
    await entries.locator('summary:has-text("Add entries")').click();
    await page.selectOption('select[name=release-type]', 'api::article.article');
    for (const [id, title] of [
      [good, '<img src=x'],
      [bad, bad],
    ] as const) {
      // The page shortens a long title.
      await entries.locator('.found li', { hasText: title }).locator('button').click(REACTS);
      await entries.locator('.release-entries tbody tr', { hasText: id }).waitFor(REACTS);
    }
    await shown.card('Release').locator('.notice', { hasText: bad }).waitFor(REACTS);
    expect(await stored()).toMatchObject({ status: 'blocked', actions: { meta: { count: 2 } } });
    expect(await shown.problems()).toEqual([]);
    await entries
      .locator('.release-entries tr', { hasText: bad })
      .locator('button:text-is("Remove")')
      .click();
    await shown.card('Release').locator('.badge:text-is("ready")').waitFor(REACTS);
    await shown.card('Release').locator('button:text-is("Cancel the time")').click();
    await shown
      .card('Release')
      .locator('dd:has-text("it waits until somebody publishes it")')
      .waitFor(REACTS);
    expect(await stored()).toMatchObject({ name: MARKUP, scheduledAt: null });
    await shown.card('Release').locator('button:text-is("Publish now")').click();
    await shown.card('Release').locator('.badge:text-is("done")').waitFor(REACTS);
    expect((await client.call('GET', `/api/articles/${good}`)).status).toBe(200);
    expect(await shown.problems()).toEqual([]);
  });

  test('an operator reads what is wrong, and what to do', async () => {
    const { id } = await client.data<ShownRelease>('POST', '/_varve/releases', {
      data: { name: `failed ${MARKUP}` },
    });
    await client.data('POST', `/_varve/releases/${id}/actions`, {
      data: { type: 'publish', contentType: 'api::article.article', entryDocumentId: bad },
    });
    const scheduledAt = new Date(Date.now() + 15_000).toISOString();
    await client.data('PUT', `/_varve/releases/${id}`, { data: { name: `failed ${MARKUP}`, scheduledAt } });
    await shown.show('#/overview', '.warning .runbook');
    const warning = shown.page.locator('.warning', { hasText: 'releases-failed' });
    expect(await warning.locator('.runbook').textContent()).toContain(
      'An entry was refused at its time, so nothing of the release was published.',
    );
    expect(await shown.problems()).toEqual([]);
    await warning.locator('a:text-is("Open Releases")').click();
    await shown.page.locator('.releases tbody tr', { hasText: 'failed' }).first().waitFor(REACTS);
    await client.call('DELETE', `/_varve/releases/${id}`);
  });

  test('are deleted by their name', async () => {
    await client.data('POST', '/_varve/releases', { data: { name: 'second' } });
    const { id } = await stored();
    await shown.show(`#/releases/${id}`, 'section[aria-label=Release] button.danger');
    await shown.card('Release').locator('button:text-is("Delete")').click();
    await shown.confirm('second');
    await shown.page.locator('p[role=status]:has-text("The release is deleted")').waitFor(REACTS);
    expect((await client.call('GET', `/_varve/releases/${id}`)).status).toBe(404);
    expect(await shown.problems()).toEqual([]);
  });
});
