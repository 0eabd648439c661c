import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, MARKUP, openConsole, REACTS } from '../support/console-page.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { uploadForm } from '../support/upload-client.ts';

describe('the console for operators', longInBrowser('the parts of the console for operators'), () => {
  const data = createDataDirectory();
  const options = {
    contentTypes: 'examples/restaurants',
    arguments: ['--examples', '--slow-query-ms', '1', '--search-log-days', '7'],
    data,
  };
  let server: RunningServer;
  let ask: Ask;
  let shown: ConsolePage;

  beforeAll(async () => {
    const first = await startServer(options);
    const lisbon = () => createAsk(first.url)('/api/cities?filters[name]=Lisbon');
    while ((await lisbon()).body.meta.pagination.total === 0) await delay(50);
    await first.stop();
    // A graph that differs from the log.
    const db = new DatabaseSync(join(data, 'graph.db'));
    db.exec(`UPDATE rows SET source = CAST(replace(CAST(source AS TEXT), '"Lisbon"', '"Atlantis"') AS BLOB)`);
    db.close();
    server = await startServer(options);
    ask = createAsk(server.url);
    shown = await openConsole(server.url);
  }, 300_000);

  afterAll(async () => {
    await shown?.close();
    await server?.dispose();
    rmSync(data, { recursive: true, force: true });
  });

  async function runs(name: string, form: object = {}) {
    return (await ask(`/_varve/operations/${name}`, { method: 'POST', body: { data: form } })).body.data;
  }

  async function liveGeneration(): Promise<number> {
    const { data: state } = (await ask('/_varve/state')).body;
    return state.generations.find((each: { state: string }) => each.state === 'live').number;
  }

  describe('projections', () => {
    test('show what the API says, without a violation or fault', async () => {
      await shown.show('#/projections', '.generations tbody tr');
      const { data: state } = (await ask('/_varve/state')).body;
      const rows = await shown.page
        .locator('section:has(> h2:text-is("Projections")) tbody tr')
        .allTextContents();
      expect(rows.length).toBe(state.projections.length);
      for (const [i, { name, kind }] of state.projections.entries())
        expect(rows[i]).toContain(`${name} ${kind}`);
      for (const details of await shown.page.locator('details.send').all())
        await details.locator('summary').click();
      expect(await shown.problems()).toEqual([]);
    });

    test('an operator verifies the read model, and sees each difference', async () => {
      const card = shown.card('Verification');
      await card.locator('input[type=radio]').nth(1).check();
      await card.locator('button:has-text("Compare")').click();
      await card.locator('.differences tbody tr').first().waitFor(REACTS);
      await card.locator('[role=alert]', { hasText: 'difference' }).waitFor(REACTS);
      expect(await card.locator('.differences').textContent()).toContain('rows of api::city.city');
      expect(await card.locator('.send').textContent()).toContain('varve verify');
    });

    test('an operator rebuilds, reads the differences, and cancels', async () => {
      const card = shown.card('Rebuild');
      await card.locator('select[name=source]').selectOption('graph');
      await card.locator('button[type=submit]').click();
      await card.locator('.differences tbody tr').first().waitFor(REACTS);
      const found = await runs('rebuild-differences');
      expect(found.length).toBeGreaterThan(0);
      expect(await card.locator('.differences tbody td:nth-child(2)').allTextContents()).toEqual(
        found.map(({ name }: { name: string }) => name),
      );
      expect(await shown.problems()).toEqual([]);
      await card.locator('button:has-text("Cancel the rebuild")').click();
      await shown.page.waitForSelector('dialog[open]', REACTS);
      expect(await shown.page.isDisabled('dialog button[type=submit]')).toBe(true);
      expect(await shown.problems()).toEqual([]);
      await shown.confirm('generation 2');
      await card.locator('button[type=submit]:has-text("Rebuild")').waitFor(REACTS);
      expect(await liveGeneration()).toBe(1);
    });

    test('a rebuild with accepted differences switches over', async () => {
      const card = shown.card('Rebuild');
      await card.locator('select[name=source]').selectOption('graph');
      await card.locator('input[name=accept]').check();
      expect(await card.locator('.send pre').last().textContent()).toBe('varve rebuild --graph --accept');
      await card.locator('button[type=submit]').click();
      await shown.card('Generations').locator('button:has-text("Roll back")').waitFor(REACTS);
      await card.locator('[role=status]', { hasText: 'serves now' }).waitFor(REACTS);
      expect(await liveGeneration()).toBe(3);
      expect((await ask('/api/cities?filters[name]=Lisbon')).body.meta.pagination.total).toBe(1);
    });

    test('an operator rolls back, and drops a generation', async () => {
      const card = shown.card('Generations');
      await card.locator('button:has-text("Roll back")').focus();
      await shown.page.keyboard.press('Enter');
      await shown.page.waitForSelector('dialog[open] input', REACTS);
      await shown.page.keyboard.type('rollbac');
      await shown.page.keyboard.press('Enter');
      expect(await shown.page.locator('dialog[open]').count()).toBe(1);
      await shown.page.keyboard.type('k');
      await shown.page.keyboard.press('Enter');
      await card.locator('[role=status]:has-text("Roll back: Done.")').waitFor(REACTS);
      expect(await liveGeneration()).toBe(1);
      await card.locator('button:has-text("Drop")').click();
      await shown.confirm('drop');
      await card.locator('p.empty').waitFor(REACTS);
      const { data: state } = (await ask('/_varve/state')).body;
      expect(state.generations).toMatchObject([{ number: 1, state: 'live' }]);
    });

    test('a verification with the log and the files names a file that is missing', async () => {
      const form = uploadForm([{ name: 'lost.txt', bytes: 'words', type: 'text/plain' }]);
      const [{ documentId }] = (await ask('/api/upload', { method: 'POST', body: form })).body;
      for (const entry of readdirSync(join(data, 'assets'), { recursive: true, withFileTypes: true }))
        if (entry.isFile()) rmSync(join(entry.parentPath, entry.name));
      await shown.show('#/projections', '.generations tbody tr');
      const card = shown.card('Verification');
      await card.locator('input[type=radio]').nth(1).check();
      await card.locator('input[name=repair]').check();
      await card.locator('input[name=assets]').check();
      expect(await card.locator('.send').textContent()).toContain('varve verify --repair --assets');
      await card.locator('button:has-text("Compare")').click();
      await card.locator('[role=alert]', { hasText: 'difference' }).waitFor(REACTS);
      const row = card.locator('.differences tr', { hasText: documentId });
      expect(await row.textContent()).toMatch(/^uploaded file.*missing$/);
    });

    test('a rebuild whose answer is cut off before its first line is that of the state', async () => {
      const page = await shown.page.context().newPage();
      await page.route('**/_varve/operations/rebuild', async (route) => {
        await runs('rebuild', { graph: true });
        await route.abort('connectionreset');
      });
      await page.goto(`${server.url}/_varve/#/projections`);
      const card = page.locator('section[aria-label=Rebuild]');
      await card.locator('select[name=source]').selectOption('graph', REACTS);
      await card.locator('button[type=submit]').click();
      await card.locator('button:has-text("Switch over in spite"):enabled').waitFor(REACTS);
      expect(await card.textContent()).not.toContain('Failed to fetch');
      await runs('interrupt', { wanted: 'cancel' });
      await page.close();
    });
  });

  async function createCuisine(name: string): Promise<string> {
    const body = { data: { name, slug: `s-${Math.random()}`.replace('.', '') } };
    return (await ask('/api/cuisines', { method: 'POST', body })).body.data.documentId;
  }

  describe('the log', () => {
    test('an operator follows the log by type and document', async () => {
      await shown.show('#/log?type=entry-created', '.events tbody tr');
      const documentId = await createCuisine(MARKUP);
      const row = shown.page.locator('.events tbody tr', { hasText: documentId });
      await row.waitFor(REACTS);
      const kinds = await shown.page.locator('.events tbody td:nth-child(3)').allTextContents();
      expect(new Set(kinds)).toEqual(new Set(['entry-created']));
      const card = shown.card('History');
      await card.locator('input[name=document]').fill(documentId);
      await shown.page.keyboard.press('Enter');
      await expect.poll(() => shown.page.locator('.events tbody tr').count(), REACTS).toBe(1);
      const path = `/_varve/events?limit=50&type=entry-created&document=${documentId}`;
      expect(await card.locator('.send').textContent()).toContain(path);
      expect((await ask(path)).body.data).toHaveLength(1);
    });

    test('shows what an event did, and its data as text', async () => {
      await shown.page.locator('.events tbody td a').first().click();
      const card = shown.card('Event');
      await card.locator('pre.body').first().waitFor(REACTS);
      await card.locator('text=wrote a new row: published').waitFor(REACTS);
      const position = new URL(shown.page.url()).hash.split(/[/?]/)[2];
      const { data: event } = (await ask(`/_varve/events/${position}`)).body;
      expect(event.data.values.name).toBe(MARKUP);
      expect(JSON.parse((await card.locator('pre.body').textContent()) ?? '')).toEqual(event.data);
      await card.locator('text=None: the deliveries that are stored follow other events.').waitFor(REACTS);
      expect(await shown.problems()).toEqual([]);
    });

    test('verifies the head of the hash chain', async () => {
      await shown.show('#/log', '.events tbody tr');
      const card = shown.card('Hash chain');
      const { data: state } = (await ask('/_varve/state')).body;
      expect(await card.locator('code.head').textContent()).toMatch(/^\d+:[0-9a-f]{64}$/);
      expect(await card.locator('input').inputValue()).toBe(
        `${state.log.head.position}:${state.log.head.chain}`,
      );
      await card.locator('input').fill(`1:${'0'.repeat(64)}`);
      await card.locator('button[type=submit]').click();
      await card.locator('[role=alert]', { hasText: 'it is not the log with this head' }).waitFor(REACTS);
      expect(await shown.problems()).toEqual([]);
    });
  });

  test('a search developer finds slow reads, and runs one again with its plan', async () => {
    let query = '';
    const isNoted = async () =>
      (await ask('/_varve/slow-queries')).body.data.some((slow: { query: string }) => slow.query === query);
    // A known answer takes no time, so that each round asks for another one.
    for (let n = 0; query === '' || !(await isNoted()); n++) {
      const names = Array.from({ length: 45 }, (_, i) => `filters[$or][${i}][name][$containsi]=${n}x${i}`);
      query = `populate=*&${names.join('&')}`;
      await ask(`/api/restaurants?${query}`);
    }
    await shown.show('#/overview', '.plot .legend a');
    await shown.page.click('.plot .legend a:text-is("Slow reads")');
    const row = shown.page.locator('.slow tbody tr', { hasText: query.slice(0, 200) });
    await row.first().waitFor();
    expect(await row.first().locator('td.number').count()).toBe(5);
    await row.first().locator('a').click();
    await shown.page.waitForSelector('.answer pre.body');
    expect(await shown.page.inputValue('[name=request]')).toBe(`/api/restaurants?${query}`);
    expect(await shown.page.isChecked('[name=plan]')).toBe(true);
    expect(await shown.problems()).toEqual([]);
  });

  test('a search developer sees what people look for, and sends a search again as a list', async () => {
    await ask('/api/restaurants?search=taberna');
    await ask(`/api/restaurants?search=${encodeURIComponent('zzqqxx <img>')}`);
    await shown.show('#/query', 'section[aria-label="Searches"] select');
    const card = shown.card('Searches');
    await card.locator('button:text-is("Look again")').click();
    await card.locator('table').waitFor(REACTS);
    expect(await card.locator('tbody td:first-child').allTextContents()).toEqual(['taberna', 'zzqqxx img']);
    await card.locator('select').selectOption('none');
    const row = card.locator('tbody tr', { hasText: 'zzqqxx' });
    await expect.poll(() => card.locator('tbody tr').count(), REACTS).toBe(1);
    expect(await row.locator('td.number').allTextContents()).toEqual(['1', '1', '0', '0', '']);
    expect(await shown.problems()).toEqual([]);
    await row.locator('a').click();
    await shown.page.waitForSelector('.answer pre.body');
    expect(await shown.page.inputValue('[name=request]')).toBe(
      '/api/restaurants?search=zzqqxx+img&locale=en',
    );
  });

  describe('backups', () => {
    test('an operator writes a backup, and reads what it has', async () => {
      await shown.show('#/backup', 'section[aria-label="Backup and export"] button');
      const card = shown.card('Backup and export');
      expect(await card.locator('input[name=copy-name]').inputValue()).toMatch(
        /^backup-\d{4}-\d\d-\d\d-\d{4}$/,
      );
      await card.locator('input[name=copy-name]').fill('monday');
      await card.locator('button:text-is("Back up")').click();
      await card.locator('[role=status]', { hasText: 'written to transfer/monday' }).waitFor();
      expect(await card.locator('.send pre').last().textContent()).toBe("varve backup 'monday'");
      const manifest = JSON.parse(readFileSync(join(data, 'transfer/monday/manifest.json'), 'utf8'));
      const { events, position } = manifest.log;
      const words = (await card.locator('[role=status]').textContent()) ?? '';
      expect(words.replaceAll(',', '')).toContain(`${events} events up to position ${position}`);
      await card.locator('input[name=copy-name]').fill('monday');
      await card.locator('button:text-is("Back up")').click();
      await card.locator('[role=status]', { hasText: 'monday exists already' }).waitFor();
      expect(await shown.problems()).toEqual([]);
    });

    test.each([
      ['history', 'kept.jsonl', 'varve export'],
      ['strapi', 'kept.tar.gz', 'varve export --strapi'],
    ])('and so are exports: %s', async (kind, name, command) => {
      const card = shown.card('Backup and export');
      await card.locator('select[name=kind]').selectOption(kind);
      await card.locator('input[name=copy-name]').fill(name);
      await card.locator('button:text-is("Export")').click();
      await card.locator('[role=status]', { hasText: `written to transfer/${name}` }).waitFor(REACTS);
      expect(await card.locator('.send pre').last().textContent()).toBe(`${command} '${name}'`);
      expect(statSync(join(data, 'transfer', name)).size).toBeGreaterThan(100);
    });

    test('and smaller pictures are made where some are missing', async () => {
      const card = shown.card('Smaller pictures');
      await card.locator('button:text-is("Make missing pictures")').click();
      const { text } = await runs('make-formats');
      await card.locator('[role=status]', { hasText: `Make missing pictures: ${text}` }).waitFor(REACTS);
    });

    test('a site developer imports a file, and reads why lines were refused', async () => {
      const line = (values: object) => JSON.stringify({ type: 'api::cuisine.cuisine', data: values });
      const lines = [line({ name: 'Breton', slug: 'breton' }), line({ name: 7, slug: MARKUP })];
      writeFileSync(join(data, 'transfer/more.jsonl'), `${lines.join('\n')}\n`);
      const card = shown.card('Import a file');
      await card.locator('input[name=import-name]').fill('more.jsonl');
      await card.locator('button:text-is("Import")').click();
      await shown.confirm('more.jsonl');
      await card.locator('[role=status]', { hasText: '1 lines of the file are entries' }).waitFor();
      expect(await card.locator('.refused tbody td:first-child').allTextContents()).toContain('2');
      expect((await ask('/api/cuisines?filters[slug]=breton')).body.data).toMatchObject([{ name: 'Breton' }]);
      expect(await shown.problems()).toEqual([]);
    });
  });

  describe('erasures', () => {
    const orders = async () => (await ask('/_varve/erasures')).body.data;

    test('show what would be erased, and erase it only after its name was typed', async () => {
      const documentId = await createCuisine('Quixotellix');
      await shown.show('#/erasures', 'section[aria-label=Erasures] p.empty');
      const card = shown.card('Erase documents');
      await card.locator('select[name=type]').selectOption('api::cuisine.cuisine');
      await card.locator('input[name=documentId]').fill(documentId);
      await card.locator('input[name=reason]').fill(MARKUP);
      await card.locator('button:text-is("Show what would be erased")').click();
      await card.locator('.to-erase tbody tr').waitFor(REACTS);
      expect(await card.locator('.to-erase tbody td').allTextContents()).toEqual([documentId, '1']);
      expect(await orders()).toEqual([]);
      await card.locator('button:text-is("Erase 1 document")').click();
      await shown.page.waitForSelector('dialog[open]', REACTS);
      expect(await shown.page.isDisabled('dialog button[type=submit]')).toBe(true);
      expect(await shown.problems()).toEqual([]);
      await shown.confirm(documentId);
      const row = shown.page.locator('.erasures tbody tr', { hasText: documentId });
      await row.locator('.good:text-is("erased")').waitFor(REACTS);
      const [order] = await orders();
      expect(order).toMatchObject({ documentId, reason: MARKUP, erased: true });
      const links = await row.locator('a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
      expect(links).toEqual([`#/log/${order.position}`, `#/log/${order.proof}`]);
      expect(await shown.problems()).toEqual([]);
    });

    test('have a proof in the log, and leave nothing of the entry there', async () => {
      const [{ documentId, proof, events: erased }] = await orders();
      await shown.show(`#/log/${proof}?document=${documentId}`, '.event pre.body');
      const data = JSON.parse((await shown.page.textContent('.event pre.body')) ?? '');
      expect(data).toMatchObject({ documentId });
      expect(data.events).toHaveLength(erased);
      for (const each of data.events)
        expect(Object.keys(each).toSorted()).toEqual(['digest', 'id', 'revision']);
      const { data: events } = (await ask(`/_varve/events?document=${documentId}&limit=500`)).body;
      for (const { position } of events)
        expect(JSON.stringify((await ask(`/_varve/events/${position}`)).body)).not.toContain('Quixotellix');
    });
  });
});
