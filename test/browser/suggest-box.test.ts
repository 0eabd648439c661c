import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { longInBrowser, openBrowser } from '../support/chromium.ts';
import { faultsOf, servePage } from '../support/instant-page.ts';
import { startServer } from '../support/server.ts';

const WAIT = { timeout: 30_000 };

/** A search box of the unmodified library, whose suggestions are those of the server that the address names. */
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="box"></div><script src="/autocomplete.js"></script>
<script>
const { autocomplete } = window['@algolia/autocomplete-js'];
const suggest = (query) => fetch(location.hash.slice(1) + '/api/restaurants/_suggest?facets=city.name&q=' + encodeURIComponent(query));
autocomplete({
  container: '#box',
  placeholder: 'Search',
  detachedMediaQuery: 'none',
  async getSources({ query }) {
    if (query === '') return [];
    const { data } = await (await suggest(query)).json();
    const source = (sourceId, items, item) => ({ sourceId, getItems: () => items, templates: { item } });
    return [
      source('words', data.words, ({ item, html }) => html\`<b class="word">\${item.text} (\${item.count})</b>\`),
      source('titles', data.titles, ({ item, html }) => html\`<i class="title" dangerouslySetInnerHTML=\${{ __html: item.highlighted }}></i>\`),
    ];
  },
});
</script>`;

it('autocomplete-js shows the words and titles of _suggest', {
  ...longInBrowser('a search box in Chromium'),
  timeout: 300_000,
}, async () => {
  const served = await servePage(PAGE);
  const origin = new URL(served.url).origin;
  const server = await startServer({
    contentTypes: 'examples/restaurants',
    arguments: ['--examples', '--cors', origin],
  });
  const browser = await openBrowser();
  onTestFinished(async () => {
    await browser.close();
    await server.dispose();
    served.close();
  });
  const page = await browser.context.newPage();
  const faults = faultsOf(page);
  const library = dirname(fileURLToPath(import.meta.resolve('@algolia/autocomplete-js')));
  const script = readFileSync(join(library, '../umd/index.production.js'), 'utf8');
  await page.route('**/autocomplete.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: script }),
  );
  await page.goto(`${served.url}#${server.url}`);
  const texts = (selector: string) => page.locator(selector).allTextContents();

  // Each key asks; the last answer is what the reader sees.
  await page.locator('.aa-Input').pressSequentially('casa mar', { delay: 20 });
  await expect.poll(() => texts('.word'), WAIT).toEqual(['casa maré (1)']);
  await expect.poll(() => texts('.title'), WAIT).toEqual(['Casa da Maré']);
  expect(await texts('.title mark')).toEqual(['Casa', 'Mar']);
  await page.fill('.aa-Input', 'zzqqxx');
  await expect.poll(() => texts('.word, .title'), WAIT).toEqual([]);
  await page.fill('.aa-Input', 'tabrena');
  await expect.poll(() => texts('.title'), WAIT).toContain('Taberna do Rio');
  expect(faults).toEqual([]);
});
