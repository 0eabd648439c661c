const { liteClient } = window['algoliasearch/lite'];
const { widgets } = instantsearch;

// Any application id does; the key is an access token, or "public" for none.
const searchClient = liteClient('varve', 'public', {
  hosts: [{ url: location.host, accept: 'readWrite', protocol: location.protocol.slice(0, -1) }],
  // By default the client gives a host up after a second, and asks the next one. There is only one.
  timeouts: { connect: 20_000, read: 20_000, write: 20_000 },
});
const search = instantsearch({ indexName: 'restaurants', searchClient, routing: true });

// Templates are functions: InstantSearch would compile texts, which the page's security policy forbids.
const hit = (each, { html, components: { Highlight, Snippet } }) => html`
  <article>
    <h3>${Highlight({ hit: each, attribute: 'name' })} ${'★'.repeat(each.stars)}</h3>
    <p>${Highlight({ hit: each, attribute: 'tagline' })}</p>
    <p>${Snippet({ hit: each, attribute: 'description' })}</p>
    <p class="facts">
      ${each.city?.name} · ${each.cuisines.map(({ name }) => name).join(', ')} · ${each.priceLevel} · ${each.rating}
    </p>
  </article>
`;

search.addWidgets([
  widgets.configure({ hitsPerPage: 6, attributesToSnippet: ['description:20'] }),
  widgets.searchBox({ container: '#box', placeholder: 'Casa, taberna, seafood' }),
  widgets.stats({ container: '#stats' }),
  widgets.sortBy({
    container: '#order',
    items: [
      { label: 'Relevance', value: 'restaurants' },
      { label: 'Best rated', value: 'restaurants:rating:desc' },
      { label: 'Name', value: 'restaurants:name:asc' },
    ],
  }),
  widgets.currentRefinements({ container: '#chosen' }),
  widgets.refinementList({ container: '#cities', attribute: 'city.name' }),
  widgets.refinementList({ container: '#cuisines', attribute: 'cuisines.name' }),
  widgets.refinementList({ container: '#prices', attribute: 'priceLevel' }),
  widgets.rangeInput({ container: '#stars', attribute: 'stars' }),
  widgets.toggleRefinement({
    container: '#terrace',
    attribute: 'terrace',
    templates: { labelText: () => 'Terrace' },
  }),
  widgets.hits({ container: '#hits', templates: { item: hit, empty: () => 'Nothing was found.' } }),
  widgets.pagination({ container: '#pages' }),
]);
search.start();
