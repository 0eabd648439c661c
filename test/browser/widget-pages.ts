import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A product of the shop that the widgets search. */
export type Product = {
  readonly name: string;
  readonly description: string;
  readonly brand: string;
  readonly kind: string;
  readonly price: number;
  readonly rating: number;
  readonly free: boolean;
  readonly categories: { readonly lvl0: string; readonly lvl1: string };
};

const pick = (all: readonly string[], i: number): string => all[i % all.length] as string;

export const PRODUCTS: readonly Product[] = Array.from({ length: 24 }, (_, i) => {
  const lvl0 = pick(['Rooms', 'Garden'], i);
  const lvl1 = `${lvl0} > ${pick(lvl0 === 'Rooms' ? ['Kitchen', 'Bath'] : ['Grill', 'Pool'], i >> 1)}`;
  return {
    name: `${pick(['Brass', 'Glass', 'Oak', 'Steel'], i)} ${pick(['lamp', 'chair', 'table'], i)} ${i + 100}`,
    description: `A thing that is made of good parts, and of ${pick(['velvet', 'leather'], i)} at the end of it all.`,
    brand: pick(['Acme', 'Bolt', 'Cask'], i),
    kind: pick(['plain', 'fancy'], i >> 2),
    price: i * 10,
    rating: i % 6,
    free: i % 2 === 0,
    categories: { lvl0, lvl1 },
  };
});

const text = { type: 'string' };

/** Writes the content types of the shop to a new folder. */
export function writeShop(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-shop-'));
  const write = (path: string, json: object) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(json));
  };
  write('components/shop/categories.json', {
    collectionName: 'categories',
    info: { displayName: 'Categories' },
    attributes: { lvl0: text, lvl1: text },
  });
  write('api/product/content-types/product/schema.json', {
    kind: 'collectionType',
    collectionName: 'products',
    info: { singularName: 'product', pluralName: 'products', displayName: 'Product' },
    options: { draftAndPublish: false },
    attributes: {
      name: text,
      description: { type: 'text' },
      brand: text,
      kind: { type: 'enumeration', enum: ['plain', 'fancy'] },
      price: { type: 'decimal' },
      rating: { type: 'integer' },
      free: { type: 'boolean' },
      categories: { type: 'component', component: 'shop.categories' },
    },
  });
  return folder;
}

const PARTS = ['widget', 'more', 'hits', 'other'].map((id) => `<div id="${id}"></div>`).join('');
const CDN = 'https://cdn.jsdelivr.net/npm';

function pageOf(packages: readonly string[], script: string): string {
  const scripts = packages.map((name) => `<script src="${CDN}/${name}@x"></script>`).join('');
  return `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="root">${PARTS}</div>${scripts}<script>${script}</script>`;
}

const CLIENT = (host: string) =>
  `const searchClient = window['algoliasearch/lite'].liteClient('varve', 'public', { hosts: [{ url: '${host}', accept: 'readWrite', protocol: 'http' }], timeouts: { connect: 60_000, read: 60_000, write: 60_000 } });`;

/**
 * Returns a page of instantsearch.js with these widgets and the hits. In `widgets`, `w` has the library's widgets. `options`: members of the
 * library's options.
 */
export function javascriptPage(host: string, widgets: string, options = ''): string {
  return pageOf(
    ['algoliasearch', 'instantsearch.js'],
    `${CLIENT(host)}
const w = instantsearch.widgets;
const search = instantsearch({ indexName: 'products', searchClient, ${options} });
const item = (hit, { html, components }) => html\`<b class="name">\${hit.name}</b> \${components.Highlight({ hit, attribute: 'name' })} \${components.Snippet({ hit, attribute: 'description' })}\`;
search.addWidgets([w.configure({ hitsPerPage: 50, attributesToSnippet: ['description:5'] }), w.hits({ container: '#hits', templates: { item } }), ${widgets}]);
search.start();`,
  );
}

/** Returns a page of react-instantsearch. In `widgets`, `h` makes an element and `R` has the components. */
export function reactPage(host: string, widgets: string): string {
  return pageOf(
    ['algoliasearch', 'react', 'react-dom', 'react-instantsearch'],
    `${CLIENT(host)}
const h = React.createElement, R = ReactInstantSearch;
const hitComponent = ({ hit }) => h('div', null, h('b', { className: 'name' }, hit.name), h(R.Highlight, { hit, attribute: 'name' }), h(R.Snippet, { hit, attribute: 'description' }));
const box = (id, ...children) => h('div', { id }, ...children);
ReactDOM.createRoot(document.getElementById('root')).render(
  h(R.InstantSearch, { indexName: 'products', searchClient },
    h(R.Configure, { hitsPerPage: 50, attributesToSnippet: ['description:5'] }),
    box('hits', h(R.Hits, { hitComponent })), box('widget', ${widgets})));`,
  );
}
