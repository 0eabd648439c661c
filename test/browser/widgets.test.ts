import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, longInBrowser, openBrowser } from '../support/chromium.ts';
import { faultsOf, servePage, serveScripts } from '../support/instant-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { javascriptPage, PRODUCTS, type Product, reactPage, writeShop } from './widget-pages.ts';

/** A widget of one or both libraries, an action, and the expected page after it. */
type Case = {
  readonly javascript?: string;
  readonly react?: string;
  readonly act: (page: Page) => Promise<unknown>;
  /** The hits that remain, in any order. */
  readonly hits?: (product: Product) => boolean;
  readonly shows?: (page: Page) => Promise<unknown>;
  readonly wanted?: unknown;
};

const at = "container: '#widget'";
const click = (selector: string, hasText?: string) => (page: Page) =>
  page
    .locator(selector, hasText === undefined ? {} : { hasText })
    .first()
    .click();
const type = (words: string) => (page: Page) => page.fill('.ais-SearchBox-input', words);
const texts = (selector: string) => async (page: Page) =>
  (await page.locator(selector).allTextContents()).map((each) => each.trim());
const BOX = { javascript: `w.searchBox({ container: '#more' })`, react: 'h(R.SearchBox)' };
const BRANDS = {
  javascript: `w.refinementList({ container: '#other', attribute: 'brand' })`,
  react: `h(R.RefinementList, { attribute: 'brand' })`,
};
const both = (one: typeof BOX, other: typeof BOX) => ({
  javascript: `${one.javascript}, ${other.javascript}`,
  react: `${one.react}, ${other.react}`,
});
const named = (javascript: string, react: string) => ({ javascript, react });
const LEVELS = "['categories.lvl0', 'categories.lvl1']";
const PRICES = `[{ label: 'All' }, { label: 'Some', start: 50, end: 100 }]`;
const HIERARCHY = named(
  `w.hierarchicalMenu({ ${at}, attributes: ${LEVELS} })`,
  `h(R.HierarchicalMenu, { attributes: ${LEVELS} })`,
);

const CASES: Readonly<Record<string, Case>> = {
  searchBox: { ...BOX, act: type('brass lamp'), hits: ({ name }) => /Brass lamp/.test(name) },
  hits: { ...BOX, act: type('oak'), hits: ({ name }) => /Oak/.test(name) },
  highlight: {
    ...BOX,
    act: type('steel cha'),
    shows: async (page) => new Set(await texts('#hits .ais-Highlight-highlighted')(page)),
    wanted: new Set(['Steel', 'cha']),
  },
  snippet: {
    ...BOX,
    act: type('velvet'),
    shows: async (page) => new Set(await texts('#hits .ais-Snippet-highlighted')(page)),
    wanted: new Set(['velvet']),
  },
  reverseHighlight: {
    ...both(
      BOX,
      named(
        `w.hits({ ${at}, templates: { item: (hit, { components }) => components.ReverseHighlight({ hit, attribute: 'name' }) } })`,
        `h(R.Hits, { hitComponent: ({ hit }) => h(R.ReverseHighlight, { hit, attribute: 'name' }) })`,
      ),
    ),
    act: type('steel cha'),
    shows: async (page) => new Set(await texts('#widget .ais-ReverseHighlight-nonHighlighted')(page)),
    wanted: new Set(['Steel', 'cha']),
  },
  infiniteHits: {
    ...named(
      `w.configure({ hitsPerPage: 5 }), w.infiniteHits({ ${at}, templates: { item: (hit) => hit.name } })`,
      `h(R.Configure, { hitsPerPage: 5 }), h(R.InfiniteHits, { hitComponent: ({ hit }) => hit.name })`,
    ),
    act: click('.ais-InfiniteHits-loadMore'),
    shows: async (page) => (await texts('.ais-InfiniteHits-item')(page)).length,
    wanted: 10,
  },
  refinementList: {
    ...BRANDS,
    act: click('.ais-RefinementList-labelText', 'Acme'),
    hits: ({ brand }) => brand === 'Acme',
    // The counts of the other values do not change, since the facet has its own query.
    shows: texts('.ais-RefinementList-count'),
    wanted: ['8', '8', '8'],
  },
  'refinementList, two values': {
    ...BRANDS,
    act: async (page) => {
      await click('.ais-RefinementList-labelText', 'Acme')(page);
      await click('.ais-RefinementList-labelText', 'Bolt')(page);
    },
    hits: ({ brand }) => brand !== 'Cask',
  },
  'refinementList, search in its values': {
    ...named(
      `w.refinementList({ ${at}, attribute: 'brand', searchable: true })`,
      `h(R.RefinementList, { attribute: 'brand', searchable: true })`,
    ),
    act: (page) => page.fill('.ais-RefinementList .ais-SearchBox-input', 'bo'),
    shows: texts('.ais-RefinementList-labelText'),
    wanted: ['Bolt'],
  },
  menu: {
    ...named(`w.menu({ ${at}, attribute: 'brand' })`, `h(R.Menu, { attribute: 'brand' })`),
    act: click('.ais-Menu-link', 'Bolt'),
    hits: ({ brand }) => brand === 'Bolt',
  },
  menuSelect: {
    ...named(
      `w.menuSelect({ ${at}, attribute: 'brand' })`,
      // The library has its hook alone.
      `h(() => {
        const { items, refine } = R.useMenu({ attribute: 'brand' });
        const options = items.map(({ value, label }) => h('option', { key: value, value }, label));
        return h('select', { className: 'ais-MenuSelect-select', onChange: (event) => refine(event.target.value) }, options);
      })`,
    ),
    act: (page) => page.selectOption('.ais-MenuSelect-select', 'Cask'),
    hits: ({ brand }) => brand === 'Cask',
  },
  hierarchicalMenu: {
    ...HIERARCHY,
    act: async (page) => {
      await click('.ais-HierarchicalMenu-link', 'Rooms')(page);
      await click('.ais-HierarchicalMenu-link', 'Bath')(page);
    },
    hits: ({ categories }) => categories.lvl1 === 'Rooms > Bath',
  },
  breadcrumb: {
    ...both(
      HIERARCHY,
      named(
        `w.breadcrumb({ container: '#other', attributes: ${LEVELS} })`,
        `h(R.Breadcrumb, { attributes: ${LEVELS} })`,
      ),
    ),
    act: click('.ais-HierarchicalMenu-link', 'Garden'),
    shows: async (page) => (await texts('.ais-Breadcrumb-item')(page)).at(-1),
    wanted: expect.stringContaining('Garden'),
  },
  numericMenu: {
    ...named(
      `w.numericMenu({ ${at}, attribute: 'price', items: ${PRICES} })`,
      `h(() => {
        const { items, refine } = R.useNumericMenu({ attribute: 'price', items: ${PRICES} });
        return items.map(({ value, label }) =>
          h('button', { key: value, className: 'ais-NumericMenu-label', onClick: () => refine(value) }, label));
      })`,
    ),
    act: click('.ais-NumericMenu-label', 'Some'),
    hits: ({ price }) => price >= 50 && price <= 100,
  },
  rangeInput: {
    ...named(`w.rangeInput({ ${at}, attribute: 'price' })`, `h(R.RangeInput, { attribute: 'price' })`),
    act: async (page) => {
      await page.fill('.ais-RangeInput-input--min', '150');
      await page.click('.ais-RangeInput-submit');
    },
    hits: ({ price }) => price >= 150,
  },
  rangeSlider: {
    ...named(
      `w.rangeSlider({ ${at}, attribute: 'price' })`,
      // The library has its hook alone.
      `h(() => {
        const { range: { max }, refine } = R.useRange({ attribute: 'price' });
        return h('div', { role: 'slider', tabIndex: 0, onKeyDown: ({ key }) => key === 'End' && refine([max, max]) }, max);
      })`,
    ),
    // The lower bound moves to the greatest price.
    act: (page) => page.locator('#widget [role="slider"]').first().press('End'),
    hits: ({ price }) => price === PRODUCTS.at(-1)?.price,
  },
  panel: {
    javascript: `w.panel({ hidden: ({ items }) => items.length === 0 })(w.refinementList)({ ${at}, attribute: 'brand' }), ${BOX.javascript}`,
    act: async (page) => {
      await page.locator('.ais-Panel').waitFor({ state: 'visible' });
      await type('nothing has these')(page);
    },
    shows: (page) => page.locator('.ais-Panel').isVisible(),
    wanted: false,
  },
  queryRuleContext: {
    javascript: `w.queryRuleContext({ trackedFilters: { brand: (values) => values } }), ${BRANDS.javascript}`,
    act: click('.ais-RefinementList-labelText', 'Acme'),
    hits: ({ brand }) => brand === 'Acme',
  },
  queryRuleCustomData: {
    javascript: `w.queryRuleCustomData({ ${at}, templates: { default: ({ items }) => 'rules: ' + items.length } }), ${BOX.javascript}`,
    act: type('oak'),
    hits: ({ name }) => /Oak/.test(name),
    shows: texts('.ais-QueryRuleCustomData'),
    wanted: ['rules: 0'],
  },
  relevantSort: {
    javascript: `w.relevantSort({ ${at}, templates: { text: () => 'sorted otherwise' } }), ${BOX.javascript}`,
    act: type('oak'),
    hits: ({ name }) => /Oak/.test(name),
    // Varve never omits hits that rank low, so the widget is empty.
    shows: (page) => page.locator('.ais-RelevantSort').count(),
    wanted: 0,
  },
  poweredBy: {
    ...both(BOX, named(`w.poweredBy({ ${at} })`, 'h(R.PoweredBy)')),
    act: type('oak'),
    hits: ({ name }) => /Oak/.test(name),
    shows: (page) => page.locator('.ais-PoweredBy-link').count(),
    wanted: 1,
  },
  autocomplete: {
    ...named(
      `instantsearch.connectors.connectAutocomplete(({ indices }) => {
        const names = indices.flatMap(({ hits }) => hits.map(({ name }) => '<p>' + name + '</p>'));
        document.querySelector('#widget').innerHTML = names.join('');
      })({}), ${BOX.javascript}`,
      `${BOX.react}, h(() => {
        const { indices } = R.useAutocomplete();
        return indices.flatMap(({ hits }) => hits.map(({ name }) => h('p', { key: name }, name)));
      })`,
    ),
    act: type('gla'),
    shows: async (page) => new Set((await texts('#widget p')(page)).map((name) => name.split(' ')[0])),
    wanted: new Set(['Glass']),
  },
  ratingMenu: {
    javascript: `w.ratingMenu({ ${at}, attribute: 'rating' })`,
    act: (page) => page.locator('.ais-RatingMenu-link[aria-label^="4"]').click(),
    hits: ({ rating }) => rating >= 4,
  },
  toggleRefinement: {
    ...named(
      `w.toggleRefinement({ ${at}, attribute: 'free' })`,
      `h(R.ToggleRefinement, { attribute: 'free' })`,
    ),
    act: click('.ais-ToggleRefinement-checkbox'),
    hits: ({ free }) => free,
  },
  currentRefinements: {
    ...both(BRANDS, named(`w.currentRefinements({ ${at} })`, 'h(R.CurrentRefinements)')),
    act: click('.ais-RefinementList-labelText', 'Acme'),
    shows: texts('.ais-CurrentRefinements-categoryLabel'),
    wanted: ['Acme'],
  },
  clearRefinements: {
    ...both(BRANDS, named(`w.clearRefinements({ ${at} })`, 'h(R.ClearRefinements)')),
    act: async (page) => {
      await click('.ais-RefinementList-labelText', 'Acme')(page);
      await page.waitForSelector('.ais-RefinementList-item--selected');
      await click('.ais-ClearRefinements-button')(page);
    },
    shows: async (page) => (await texts('#hits .name')(page)).length,
    wanted: PRODUCTS.length,
  },
  sortBy: {
    ...named(
      `w.sortBy({ ${at}, items: [{ label: 'a', value: 'products' }, { label: 'b', value: 'products:price:desc' }] })`,
      `h(R.SortBy, { items: [{ label: 'a', value: 'products' }, { label: 'b', value: 'products:price:desc' }] })`,
    ),
    act: (page) => page.selectOption('.ais-SortBy-select', 'products:price:desc'),
    shows: texts('#hits .name'),
    wanted: PRODUCTS.map(({ name }) => name).reverse(),
  },
  hitsPerPage: {
    ...named(
      `w.hitsPerPage({ ${at}, items: [{ label: '3', value: 3, default: true }, { label: '7', value: 7 }] })`,
      `h(R.HitsPerPage, { items: [{ label: '3', value: 3, default: true }, { label: '7', value: 7 }] })`,
    ),
    act: (page) => page.selectOption('.ais-HitsPerPage-select', '7'),
    shows: async (page) => (await texts('#hits .name')(page)).length,
    wanted: 7,
  },
  pagination: {
    ...named(
      `w.configure({ hitsPerPage: 10 }), w.pagination({ ${at} })`,
      'h(R.Configure, { hitsPerPage: 10 }), h(R.Pagination)',
    ),
    act: click('.ais-Pagination-item--lastPage .ais-Pagination-link'),
    shows: texts('#hits .name'),
    wanted: PRODUCTS.slice(20).map(({ name }) => name),
  },
  stats: {
    ...both(BOX, named(`w.stats({ ${at} })`, 'h(R.Stats)')),
    act: type('glass'),
    shows: async (page) => (await texts('.ais-Stats-text')(page))[0],
    wanted: expect.stringMatching(/^6 results/),
  },
  configure: {
    ...both(
      BOX,
      named(
        `w.configure({ filters: 'price < 100 AND NOT brand:Acme' })`,
        `h(R.Configure, { filters: 'price < 100 AND NOT brand:Acme' })`,
      ),
    ),
    act: type('chair'),
    hits: ({ name, price, brand }) => /chair/.test(name) && price < 100 && brand !== 'Acme',
  },
  dynamicWidgets: {
    ...named(
      `w.dynamicWidgets({ ${at}, transformItems: () => ['kind'], fallbackWidget: ({ attribute, container }) => w.refinementList({ attribute, container }), widgets: [] })`,
      `h(R.DynamicWidgets, { transformItems: () => ['kind'], fallbackComponent: R.RefinementList })`,
    ),
    act: click('.ais-RefinementList-labelText', 'fancy'),
    hits: ({ kind }) => kind === 'fancy',
  },
  index: {
    ...both(
      BOX,
      named(
        `w.index({ indexName: 'products:price:desc' }).addWidgets([w.configure({ hitsPerPage: 1 }), w.hits({ ${at}, templates: { item: (hit) => hit.name } })])`,
        `h(R.Index, { indexName: 'products:price:desc' }, h(R.Configure, { hitsPerPage: 1 }), h(R.Hits, { hitComponent: ({ hit }) => hit.name }))`,
      ),
    ),
    act: type('brass'),
    shows: texts('#widget .ais-Hits-item'),
    wanted: [PRODUCTS.findLast(({ name }) => /Brass/.test(name))?.name],
  },
};

const LIBRARIES = [
  ['instantsearch.js', 'javascript', javascriptPage],
  ['react-instantsearch', 'react', reactPage],
] as const;
/** Timeout for a page's reaction to a click, which takes longer on a busy machine. */
const WAIT = { timeout: Number(process.env['VARVE_WIDGET_WAIT_MS'] ?? 30_000) };

describe('widgets of InstantSearch', longInBrowser('each widget in Chromium'), () => {
  let server: RunningServer;
  let browser: Browser;
  const shop = writeShop();

  beforeAll(async () => {
    server = await startServer({ contentTypes: shop });
    for (const data of PRODUCTS) {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify({ data }) };
      expect((await fetch(`${server.url}/api/products`, request)).status).toBe(201);
    }
    browser = await openBrowser();
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await server?.dispose();
    rmSync(shop, { recursive: true, force: true });
  });

  test.each(LIBRARIES)('%s shows 22 widgets and more', (_name, library) => {
    const shown = Object.entries(CASES).filter(
      ([name, each]) => !name.includes(',') && each[library] !== undefined,
    );
    expect(shown.length).toBeGreaterThanOrEqual(22);
  });

  describe.each(LIBRARIES)('%s', (_name, library, pageOf) => {
    const cases = Object.entries(CASES).filter(([, each]) => each[library] !== undefined);
    test.each(cases)(
      '%s',
      async (_widget, { act, hits, shows, wanted, ...each }) => {
        const served = await servePage(pageOf(new URL(server.url).host, each[library] ?? ''));
        const page = await browser.context.newPage();
        const faults = faultsOf(page);
        await serveScripts(page);
        await page.goto(served.url);
        await page.waitForSelector('#hits .name');
        await act(page);
        if (hits !== undefined) {
          const names = PRODUCTS.filter(hits).map(({ name }) => name);
          expect(names.length).toBeGreaterThan(0);
          expect(names.length).toBeLessThan(PRODUCTS.length);
          await expect
            .poll(async () => (await texts('#hits .name')(page)).sort(), WAIT)
            .toEqual(names.sort());
        }
        if (shows !== undefined) await expect.poll(() => shows(page), WAIT).toEqual(wanted);
        expect(faults).toEqual([]);
        await page.close();
        served.close();
      },
      90_000,
    );
  });
});
